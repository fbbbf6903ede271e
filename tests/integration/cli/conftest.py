"""One running system for the module, and the real `copycat` executable against it."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from copycat_testkit.commands import COPYCAT
from copycat_testkit.system import CopycatUp

from tests.plain_hosts import on_plain_hosts

COMMAND_SECONDS = 100.0


@dataclass(frozen=True)
class Ended:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def tree(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)


class Shell:
    """Types commands, as a user with COPYCAT_URL set; what they leave is in the folder."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder

    def __call__(self, line: str, *, said: str = "", **environment: str) -> Ended:
        """Run `copycat` with the words of a line; its streams are pipes."""
        done = subprocess.run(
            [COPYCAT, *shlex.split(line)],
            input=said,
            check=False,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            cwd=self.folder,
            env=self._environment(environment),
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def begin(self, line: str) -> subprocess.Popen[str]:
        """Start a command that does not end by itself."""
        return subprocess.Popen(
            [COPYCAT, *shlex.split(line)], stdout=subprocess.PIPE, text=True, env=self._environment({})
        )

    def on_terminal(self, line: str, *, typed: str = "", **environment: str) -> Ended:
        """Run it on a terminal where the user has typed ahead; `out` is what the terminal showed."""
        ours, theirs = pty.openpty()
        os.write(ours, typed.encode())
        process = subprocess.Popen(
            [COPYCAT, *shlex.split(line)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=self.folder,
            env=self._environment({"COLUMNS": "160", "TERM": "xterm", **environment}),
        )
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # the terminal is gone once the command has ended
            while part := os.read(ours, 65536):
                shown += part
        os.close(ours)
        return Ended(process.wait(COMMAND_SECONDS), shown.decode(), "")

    def _environment(self, more: dict[str, str]) -> dict[str, str]:
        kept = {
            key: value for key, value in os.environ.items() if key not in {"VISUAL", "EDITOR", "NO_COLOR"}
        }
        return {**kept, "COPYCAT_URL": self.url, "TMPDIR": str(self.folder), **more}


@pytest.fixture(scope="module")
def copycat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    folder = tmp_path_factory.mktemp("cli")
    options = ("--set", "offset.flush.interval.ms=500")
    with CopycatUp(folder / "data", options=options, environment=on_plain_hosts()) as system:
        yield Shell(system.url, folder)
