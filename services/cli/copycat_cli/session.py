"""What every command is given: the cluster it asks, and how it answers the user."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from copycat_connect.cluster import REST_PORT

from copycat_cli.credentials import login, tls_context
from copycat_cli.output.printer import Printer

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

DEFAULT_URL = f"http://127.0.0.1:{REST_PORT}"


class CommandSession:
    """One run of a command."""

    def __init__(
        self,
        url: str,
        form: str,
        *,
        ca: Path | None = None,
        cert: Path | None = None,
        user: str | None = None,
        token: str | None = None,
        named: Sequence[str] = (),
    ) -> None:
        """Nothing is sent yet.

        Args:
            url: The root of the REST interface.
            form: `table` or `json`.
            ca: PEM file of the authorities to trust.
            cert: PEM file with the certificate to show, and its key.
            user: `NAME:PASSWORD`, where the cluster wants them; never shown.
            token: What an issuer has signed, where the cluster accepts that; never shown.
            named: What of this stands on the command line, so that commands shown to the user repeat it.
        """
        self.url = url
        self.printer = Printer(form)
        self._tls_files = ca, cert
        self._login = user, token
        self._named = tuple(named)
        self._rest: Rest | None = None

    @property
    def rest(self) -> Rest:
        """The REST interface of the cluster; connects on first use."""
        from copycat_cli.rest import Rest  # noqa: PLC0415 - 65 ms, a quarter of what --help takes

        if self._rest is None:
            self._rest = Rest(self.url, tls=tls_context(*self._tls_files), user=login(*self._login))
        return self._rest

    def command(self, words: str, *names: str, options: Sequence[str] = ()) -> str:
        """Return a command of ours as the user may type it.

        Args:
            words: What it is called, e.g. `offsets get`.
            names: What it is about; behind `--` where one of them would be read as an option.
            options: Its options with their values.
        """
        like_option = any(each.startswith("-") and each != "-" for each in names)
        given = [*options, *self._named]
        rest = [*given, "--", *names] if like_option else [*names, *given]
        return shlex.join(("copycat", *words.split(), *rest))

    def next(self, *steps: tuple[str, str]) -> None:
        """Say what to do next: commands, each with its purpose."""
        width = max((len(command) for command, _ in steps), default=0)
        self.printer.advise("Next:", [f"{command.ljust(width)}  {purpose}" for command, purpose in steps])

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._rest is not None:
            self._rest.close()
