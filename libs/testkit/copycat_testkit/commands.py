"""Our commands as real processes: start them, wait for what they say, see that nothing of them is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
from copycat_embedded.guard import Guard

from copycat_testkit.kafka import wait_until
from copycat_testkit.processes import lives

COPYCAT = Path(sys.executable).with_name("copycat")
COPYCAT_WORKER = Path(sys.executable).with_name("copycat-worker")
READY = "Copycat is ready: "


@dataclass
class Command:
    """One command that runs or ran."""

    process: subprocess.Popen[bytes]
    output: Path
    """Where both its streams go."""

    def said(self) -> str:
        """Return all it said so far."""
        return self.output.read_text(encoding="utf-8", errors="replace")

    def wait_ready(self, seconds: float = 90) -> str:
        """Wait for the line scripts wait for, and return the root of the REST interface."""

        def root() -> str:
            assert self.process.poll() is None, self.said()
            lines = [line for line in self.said().splitlines() if line.startswith(READY)]
            return lines[0].removeprefix(READY) if lines else ""

        return wait_until(root, seconds, lambda: f"the ready line; it said {self.said()!r}")

    def tree(self) -> list[psutil.Process]:
        """Return its process and all below it."""
        root = psutil.Process(self.process.pid)
        return [root, *root.children(recursive=True)]

    def end(self, how: signal.Signals = signal.SIGTERM, seconds: float = 90) -> int:
        """Send it a signal, wait for its end and return the exit code."""
        self.process.send_signal(how)
        return self.process.wait(seconds)


class Commands:
    """Starts commands in a folder; close it to end those that still run."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        """Use this folder for their output, and add this to our environment."""
        self.folder = folder
        self._environment = {**os.environ, **(environment or {})}
        self._started: list[Command] = []
        self._guard = Guard()

    def start(self, *arguments: str | Path, program: Path = COPYCAT) -> Command:
        """Start a command in the background; its output goes to a file in the folder."""
        output = self.folder / f"output-{len(self._started)}"
        with output.open("wb") as written:
            process = subprocess.Popen(
                [str(program), *map(str, arguments)],
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                env=self._environment,
                start_new_session=True,
            )
        self._guard.watch(process.pid)  # it ends with the tests, also when these are killed
        self._started.append(Command(process, output))
        return self._started[-1]

    def run(self, *arguments: str | Path, program: Path = COPYCAT, seconds: float = 60) -> tuple[int, str]:
        """Run a command to its end; returns its exit code and what it said."""
        command = self.start(*arguments, program=program)
        return command.process.wait(seconds), command.said()

    def close(self) -> None:
        """End what still runs; what it started ends with it."""
        for command in self._started:
            if command.process.poll() is None:
                command.end(signal.SIGKILL)
            self._guard.forget(command.process.pid)
        self._guard.close()


def wait_gone(processes: Sequence[psutil.Process], seconds: float = 20) -> None:
    """Wait until all have ended; one that nobody reaps has ended too."""

    def all_gone() -> bool:
        return not any(lives(process) for process in processes)

    wait_until(all_gone, seconds, f"the end of {processes}")
