"""The jar lock: which jars a program runs on and what their bytes hash to."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

JarSet = Literal["broker", "connect", "connect-old", "hdfs", "jdbc", "mirror", "registry", "spark-kafka"]
"""`broker`: one Kafka node. `connect`: an Apache Kafka Connect worker with the file connectors.
`connect-old`: one of the last release without STOPPED. `hdfs`: NameNode and DataNode of Hadoop.
`jdbc`: PostgreSQL's driver. `mirror`: MirrorMaker, and a worker with its connectors. `registry`: an
Apicurio Registry, in one archive. `spark-kafka`: what Spark itself reads and writes topics with."""

LOCK = Path(__file__).with_name("jars.lock.toml")


@dataclass(frozen=True, slots=True)
class Jar:
    """One jar of the lock."""

    coordinate: str
    """`group:artifact:version`, or `group:artifact:packaging:classifier:version` of what is no plain jar."""
    sha256: str

    @property
    def parts(self) -> tuple[str, str, str, str, str]:
        """Group, artifact, packaging, classifier (empty for none) and version."""
        group, artifact, *kind, version = self.coordinate.split(":")
        packaging, classifier = kind or ("jar", "")
        return group, artifact, packaging, classifier, version

    @property
    def file_name(self) -> str:
        """The name Maven gives the file."""
        _, artifact, packaging, classifier, version = self.parts
        return f"{artifact}-{version}{'-' if classifier else ''}{classifier}.{packaging}"


def locked(sets: tuple[JarSet, ...]) -> tuple[Jar, ...]:
    """Return the jars of the sets, each once, in class path order."""
    lock = tomllib.loads(LOCK.read_text(encoding="utf-8"))
    coordinates = dict.fromkeys(jar for name in sets for jar in lock["sets"][name])
    return tuple(Jar(coordinate, lock["sha256"][coordinate]) for coordinate in coordinates)
