"""What the user and a cluster show each other: a name and a password, or a token; certificates of TLS."""

from __future__ import annotations

import base64
import os
import ssl
from collections.abc import Iterator
from pathlib import Path
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


def own_user() -> Login | None:
    """Return who this program is to its own cluster: what COPYCAT_TOKEN says, or COPYCAT_USER.

    Raises:
        CliError: The one is not one word, or the other not NAME:PASSWORD.
    """
    return login(os.environ.get(VARIABLE), os.environ.get(TOKEN_VARIABLE))


def own_headers() -> dict[str, str]:
    """Return the headers that say so."""
    user = own_user()
    if user is None:
        return {}
    if isinstance(user, Token):
        return {"Authorization": f"Bearer {user.text}"}
    return {"Authorization": f"Basic {base64.b64encode(':'.join(user).encode()).decode()}"}


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


def tls_context(ca: Path | None, cert: Path | None) -> ssl.SSLContext | None:
    """Return what to speak TLS with; nothing where neither file is given.

    Args:
        ca: PEM file of the authorities to trust, in place of those of the public web.
        cert: PEM file with a certificate and its private key, to show to a cluster that asks for one.

    Raises:
        UsageError: A file is no such file.
    """
    if ca is None and cert is None:
        return None
    try:
        context = ssl.create_default_context(cafile=ca)
    except OSError as error:  # SSLError is one
        raise UsageError(
            f"--ca {ca} cannot be used ({_reason(error)}): name a PEM file of certificates to trust"
        ) from error
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # what is named is trusted, an authority or not
    if cert is not None:
        try:
            context.load_cert_chain(cert, password=lambda: "")
        except (OSError, ValueError) as error:
            raise UsageError(
                f"--cert {cert} cannot be used ({_reason(error)}): name a PEM file with a certificate and its"
                " private key, the key without a password"
            ) from error
    return context


def distrust(error: BaseException) -> str:
    """Return why a certificate was not trusted; empty where that is not what happened."""
    refusals = (
        each.verify_message for each in _chain(error) if isinstance(each, ssl.SSLCertVerificationError)
    )
    return next(refusals, "")


def _reason(error: Exception) -> str:
    return str((isinstance(error, OSError) and error.strerror) or error)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
