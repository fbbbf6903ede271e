"""Who the user is to a cluster that asks for a name and a password."""

from __future__ import annotations

from typing import NamedTuple

import click

from copycat_cli.errors import UsageError

VARIABLE = "COPYCAT_USER"


class Credentials(NamedTuple):
    """A name and a password."""

    name: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials({self.name!r}, [hidden])"


def credentials(text: str | None) -> Credentials | None:
    """Read `NAME:PASSWORD`; nothing where nothing is given.

    Raises:
        UsageError: It has another shape.
    """
    if not text:
        return None
    name, colon, password = text.partition(":")
    if not name or not colon:
        raise UsageError(f"--user and {VARIABLE} are NAME:PASSWORD")
    return Credentials(name, password)


def user_option() -> click.Option:
    """Return the option that says who the user is."""
    return click.Option(
        ["--user"], envvar=VARIABLE, show_envvar=True, metavar="NAME:PASSWORD",
        help="For a cluster that asks for them. Others on this machine can see it here: prefer the variable.",
    )  # fmt: skip
