"""A watch on this very process: when it dies, by SIGKILL too, what it started is ended."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

SCRIPT = Path(__file__).with_name("guard.sh")


class Guard:
    """One small shell that outlives us by seconds and ends the process groups that it was given.

    A pipe shows it our death, which works on every POSIX system; a parent-death signal would be
    Linux's alone and would follow the thread that forked, not the process.
    """

    def __init__(self, holding: Sequence[int] = ()) -> None:
        """Start the shell; it keeps the files `holding` open (a lock's) until all it watches has ended."""
        self._shell = subprocess.Popen(  # our own script
            ["/bin/sh", str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=tuple(holding),
        )

    def watch(self, group: int) -> None:
        """End this process group when we are gone."""
        self._say(f"+ {group}\n")

    def forget(self, group: int) -> None:
        """The group has ended and its number may be used again."""
        self._say(f"- {group}\n")

    def close(self) -> None:
        """End the watch, and with it whatever is still watched."""
        if self._shell.stdin is not None:
            with suppress(BrokenPipeError):
                self._shell.stdin.close()
        self._shell.wait()

    def __enter__(self) -> Guard:
        """Nothing more to start."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def _say(self, line: str) -> None:
        pipe = self._shell.stdin
        if pipe is not None and not pipe.closed:
            with suppress(BrokenPipeError):  # somebody killed the shell: nobody is left to be ended
                pipe.write(line.encode())
                pipe.flush()
