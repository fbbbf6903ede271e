"""A question before something is done; asked on stderr, so that stdout holds answers only."""

from __future__ import annotations

import sys

import click

from copycat_cli.errors import UsageError


def confirm_on_terminal(question: str) -> None:
    """Go on only when a user at a terminal says yes; a pipe is nobody to ask.

    Raises:
        UsageError: Nobody can be asked.
        Abort: The user declined.
    """
    if not sys.stdin.isatty():
        raise UsageError(
            f"{question} Nobody can be asked: standard input is no terminal. --yes does it without asking,"
            " --dry-run shows what it would do"
        )
    confirm(question)


def confirm(question: str, *, default: bool = False) -> None:
    """Go on only when the user says yes; an empty answer is the default, no answer at all is no.

    Raises:
        Abort: The user declined.
    """
    # click's own prompt writes a space to stdout.
    click.echo(f"{question} [{'Y/n' if default else 'y/N'}]: ", nl=False, err=True)
    line = sys.stdin.readline()
    answer = line.strip().lower()
    if not (answer in {"y", "yes"} or (default and line and not answer)):
        raise click.Abort
