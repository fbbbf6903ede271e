"""The class archive: what one run of a program loaded, kept so that the next run starts in half the time."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from copycat_connect.java_runtime import ClassArchive, Java

from copycat_embedded.places import user_cache


@dataclass(frozen=True, slots=True)
class ProgramArchive:
    """The archive of one Java and one class path; it is made once, at the first clean stop of a run."""

    file: Path
    """Where it is kept for every later run of this user."""
    fresh: Path
    """Where this run leaves one at its stop."""
    kind: ClassArchive
    """How it is written."""

    @property
    def options(self) -> tuple[str, ...]:
        """The options that use the archive, or make it where it is missing."""
        return (self.kind.use(self.file) if self.file.is_file() else self.kind.make(self.fresh),)

    def keep(self) -> None:
        """Keep what a cleanly ended run left; the program must have exited."""
        if self.fresh.is_file() and not self.file.is_file():
            self.file.parent.mkdir(parents=True, exist_ok=True)
            half = self.file.with_name(f"{self.file.name}.{self.fresh.stat().st_ino}")
            shutil.copyfile(self.fresh, half)
            half.replace(self.file)  # at once: another broker may be starting
        self.fresh.unlink(missing_ok=True)


def class_archive(
    program: str, java: Java, class_path: Sequence[Path], run_folder: Path
) -> ProgramArchive | None:
    """Return the archive for this program, or None where this Java can make none.

    Java ignores an archive whose jars have moved or changed, so their names and times are part of its name.
    """
    kind = ClassArchive.of(java)
    if kind is ClassArchive.CDS and not (java.home / "lib" / "server" / "classes.jsa").exists():
        return None
    inputs = [f"{java.executable} {java.version} {java.executable.stat().st_mtime_ns}"]
    inputs += [f"{jar} {jar.stat().st_mtime_ns}" for jar in class_path]
    name = f"{program}-{hashlib.sha256('|'.join(inputs).encode()).hexdigest()[:16]}.archive"
    return ProgramArchive(user_cache() / "classes" / name, run_folder / f"{program}.archive", kind)
