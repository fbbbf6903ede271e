"""Which Java of this machine runs Kafka and Spark, and how a JVM keeps its class archive."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from copycat_connect.errors import CopycatError, ErrorCode

OLDEST: Final = 17
"""The oldest feature version that runs Kafka and Spark."""
AOT_SINCE: Final = 25
"""From this feature version on a JVM writes an AOT cache, which needs no archive inside the Java image."""


class NoJavaError(CopycatError):
    """No usable Java runtime was found."""

    code = ErrorCode("java.missing", grpc="FAILED_PRECONDITION", http=500)


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime on this machine."""

    executable: Path
    """Its program, links resolved."""
    version: int
    """Feature version, e.g. 17."""
    modules: frozenset[str] | None = None
    """The modules of its image; None when its release file does not say."""

    @property
    def home(self) -> Path:
        """The folder JAVA_HOME would name."""
        return self.executable.parent.parent


class ClassArchive(Enum):
    """How a JVM keeps the classes that a run loaded, so that the next one starts in half the time."""

    CDS = ("-XX:SharedArchiveFile", "-XX:ArchiveClassesAtExit")
    """Class data sharing; needs the base archive of the Java image."""
    AOT = ("-XX:AOTCache", "-XX:AOTCacheOutput")
    """The ahead-of-time cache of Java 25 and newer."""

    @classmethod
    def of(cls, java: Java) -> ClassArchive:
        """Return the better kind that a Java can make."""
        return cls.AOT if java.version >= AOT_SINCE else cls.CDS

    def use(self, file: Path) -> str:
        """Return the option that starts with an archive; a JVM ignores one that does not fit."""
        return f"{self.value[0]}={file}"

    def make(self, file: Path) -> str:
        """Return the option that writes an archive when the JVM ends."""
        return f"{self.value[1]}={file}"


def given_javas(environment: Mapping[str, str]) -> list[tuple[str, Path]]:
    """Return the Java programs that an environment offers, each with where it was named, best first."""
    executable = "java.exe" if os.name == "nt" else "java"
    found: list[tuple[str, Path]] = []
    if home := environment.get("JAVA_HOME", "").strip():
        found.append(("JAVA_HOME", Path(home) / "bin" / executable))
    if on_path := shutil.which("java", path=environment.get("PATH")):
        found.append(("PATH", Path(on_path)))
    return found


def first_java(places: Iterable[tuple[str, Path]], remedy: str) -> Java:
    """Return the first Java of at least version 17.

    Args:
        places: Programs, each with where it was named.
        remedy: What to do without a Java; a sentence for the error.

    Raises:
        NoJavaError: No Java was found; the text lists what was looked at.
    """
    seen: list[str] = []
    for place, path in places:
        java = examine(path)
        if java is not None and java.version >= OLDEST:
            return java
        seen.append(
            f"{place} names {path}, {'not a working Java' if java is None else f'Java {java.version}'}"
        )
    why = "; ".join(seen) or "JAVA_HOME is not set, PATH has no java"
    raise NoJavaError(f"No Java {OLDEST} or newer was found: {why}. {remedy}")


def examine(path: Path) -> Java | None:
    """Return what a Java program is; None when it does not run.

    The image's release file says it; a program without one is run, which takes a moment.
    """
    if not path.is_file():
        return None
    executable = path.resolve()  # /usr/bin/java is a chain of links; the image is where it ends
    release = executable.parent.parent / "release"
    text = release.read_text(encoding="utf-8") if release.is_file() else ""
    modules = re.search(r'^MODULES="([^"]*)"', text, re.MULTILINE)
    version = re.search(r'^JAVA_VERSION="([^"]+)"', text, re.MULTILINE) or _ask(executable)
    if version is None:
        return None
    return Java(executable, _feature(version[1]), frozenset(modules[1].split()) if modules else None)


def _ask(executable: Path) -> re.Match[str] | None:
    try:
        asked = subprocess.run(
            [str(executable), "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return re.search(r'version "([^"]+)"', asked.stderr)


def _feature(version: str) -> int:
    first, _, rest = version.partition(".")
    number = rest.split(".")[0] if first == "1" else first  # Java 8 called itself 1.8
    digits = re.match(r"\d+", number)
    return int(digits[0]) if digits else 0
