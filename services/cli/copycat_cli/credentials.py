"""Who the user is to a cluster that asks for a name and a password, or for a token."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import click

from copycat_cli.errors import UsageError

VARIABLE = "COPYCAT_USER"
TOKEN_VARIABLE = "COPYCAT_TOKEN"  # noqa: S105 - the name, and no token


class Credentials(NamedTuple):
    """A name and a password."""

    name: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials({self.name!r}, [hidden])"


class Token(NamedTuple):
    """What an issuer has signed."""

    text: str

    def __repr__(self) -> str:
        return "Token([hidden])"


Login: TypeAlias = Credentials | Token


def login(user: str | None, token: str | None) -> Login | None:
    """Read `NAME:PASSWORD`, or take a token, which wins; nothing where nothing is given.

    Raises:
        UsageError: One of them has another shape.
    """
    if not token:
        return credentials(user)
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(f"--token and {TOKEN_VARIABLE} are one word, without the word Bearer before it")
    return Token(token)


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


def token_option() -> click.Option:
    """Return the option that carries a token."""
    return click.Option(
        ["--token"], envvar=TOKEN_VARIABLE, show_envvar=True, metavar="TOKEN",
        help="For a cluster that accepts them; wins over --user. Others see it here: prefer the variable.",
    )  # fmt: skip
