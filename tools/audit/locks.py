"""The locks: which packages of Python and which jars Copycat is made of, and what their bytes hash to."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from copycat_embedded.lock import LOCK as JAR_LOCK

from tools.audit.findings import Answer, Finding

ROOT: Final = Path(__file__).resolve().parents[2]
UV_LOCK: Final = ROOT / "uv.lock"
SHA256: Final = re.compile(r"[0-9a-f]{64}")
#: Packages of the workspace itself.
OURS: Final = ("editable", "virtual")


@dataclass(frozen=True, slots=True)
class Release:
    """One release of a package that the lock file took from an index."""

    name: str
    version: str
    index: str
    hashes: dict[str, str]
    """What each of its files hashes to, by the file's name."""


def releases(lock: Path = UV_LOCK) -> tuple[Release, ...]:
    """Return what comes from an index, by name."""
    return tuple(
        Release(entry["name"], entry["version"], entry["source"]["registry"], dict(_files(entry)))
        for entry in tomllib.loads(lock.read_text("utf-8"))["package"]
        if "registry" in entry["source"]
    )


def _files(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for file in (*entry.get("wheels", ()), *filter(None, [entry.get("sdist")])):
        yield file["url"].rpartition("/")[2], file.get("hash", "")


def check_hashes(lock: Path = UV_LOCK, jar_lock: Path = JAR_LOCK) -> Answer:
    """Find what no hash guards: a file without one, a jar without one, a source that is no index."""
    findings: list[Finding] = []
    packages = tomllib.loads(lock.read_text("utf-8"))["package"]
    for entry in packages:
        source = entry["source"]
        if not {"registry", *OURS} & set(source):
            findings.append(Finding(entry["name"], entry["version"], "source", f"from {source}, no index"))
        elif "registry" in source:
            bare = [
                name for name, value in _files(entry) if not SHA256.fullmatch(value.removeprefix("sha256:"))
            ]
            findings += [
                Finding(entry["name"], entry["version"], "hash", f"{name} has no sha256") for name in bare
            ]
    jars = tomllib.loads(jar_lock.read_text("utf-8"))
    coordinates = sorted({jar for jars_of_set in jars["sets"].values() for jar in jars_of_set})
    for coordinate in coordinates:
        if not SHA256.fullmatch(jars["sha256"].get(coordinate, "")):
            name, _, version = coordinate.rpartition(":")
            findings.append(Finding(name, version, "hash", "the jar has no sha256"))
    return Answer(len(packages) + len(coordinates), tuple(findings))
