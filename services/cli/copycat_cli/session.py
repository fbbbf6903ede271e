"""What every command is given: the cluster it asks, and how it answers the user."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from copycat_cli.output.printer import Printer

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

DEFAULT_URL = "http://127.0.0.1:8083"


class Session:
    """One run of a command."""

    def __init__(self, url: str, form: str, *, named: bool) -> None:
        """Nothing is sent yet.

        Args:
            url: The root of the REST interface.
            form: `table` or `json`.
            named: The url stands on the command line, so that commands told to the user repeat it.
        """
        self.url = url
        self.printer = Printer(form)
        self._named = named
        self._rest: Rest | None = None

    @property
    def rest(self) -> Rest:
        """The cluster."""
        from copycat_cli.rest import Rest  # noqa: PLC0415 - help needs none of it

        if self._rest is None:
            self._rest = Rest(self.url)
        return self._rest

    def command(self, *words: str) -> str:
        """Return a command of ours as the user may type it."""
        # A url with a password in it is not repeated.
        url = ("--url", self.url) if self._named and "@" not in self.url else ()
        return shlex.join(("copycat", *words, *url))

    def next(self, *steps: tuple[str, str]) -> None:
        """Say what to do next: commands, each with its purpose."""
        width = max((len(command) for command, _ in steps), default=0)
        self.printer.advise("Next:", [f"{command.ljust(width)}  {purpose}" for command, purpose in steps])

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._rest is not None:
            self._rest.close()
