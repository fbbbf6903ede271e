"""The clients' command lines, as shells start them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SECONDS = 60.0


class CommandLine:
    """One client's program, with the address of Connect."""

    def __init__(self, program: str, *options: str) -> None:
        """`options` stand before every command."""
        self._command = [str(Path(sys.executable).with_name(program)), *options]

    def run(self, *arguments: str) -> str:
        """Run a command; returns what it printed.

        Raises:
            AssertionError: It failed; the text has what it said.
        """
        done = subprocess.run(
            [*self._command, *arguments], capture_output=True, text=True, timeout=SECONDS, check=False
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def ask(self, *arguments: str) -> Any:
        """Run a command that prints JSON; returns that."""
        printed = self.run(*arguments)
        try:
            return json.loads(printed)
        except ValueError as error:
            raise AssertionError(f"{arguments} printed no JSON: {printed}") from error
