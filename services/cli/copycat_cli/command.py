"""What a command is made of: its arguments and options, what it asks before it acts, how it ends."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from click.core import ParameterSource

from copycat_cli.advice import advice
from copycat_cli.api.connectors import connector_names
from copycat_cli.api.workers import alias, list_plugins
from copycat_cli.credentials import login, tls_context, token_option, user_option
from copycat_cli.errors import CliError, ExitCode, UsageError
from copycat_cli.output.printer import JSON, TABLE, Printer
from copycat_cli.session import DEFAULT_URL, CommandSession

if TYPE_CHECKING:
    from copycat_cli.rest import Rest


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


_COMPLETION_SECONDS = 2.0
FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
W = TypeVar("W", bound=Callable[..., None])


def connector_argument(work: W) -> W:
    """Add the argument for the name of one connector."""
    return click.argument("connector", shell_complete=_complete_connectors)(work)


def connectors_argument(*, required: bool) -> Callable[[W], W]:
    """Add the argument for names of connectors."""
    return click.argument("connectors", nargs=-1, required=required, shell_complete=_complete_connectors)


def file_argument(work: W) -> W:
    """Add the argument for a connector file."""
    return click.argument("file", type=FILE)(work)


def yes_option(what: str) -> Callable[[W], W]:
    """Add --yes; `what` is done without a question."""
    return click.option("-y", "--yes", is_flag=True, help=f"{what} without asking.")


def dry_run_option(work: W) -> W:
    """Add --dry-run; what would be done is shown."""
    return click.option(
        "--dry-run", is_flag=True, help="Show what it would do, and change nothing; the connector may run."
    )(work)


def _complete_connectors(ctx: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Return the names of connectors that begin like this."""
    return _complete(ctx, begun, connector_names)


def complete_plugins(ctx: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Return the names of plugins that begin like this."""
    return _complete(ctx, begun, _plugin_names)


def _plugin_names(rest: Rest) -> Sequence[str]:
    plugins = list_plugins(rest, connectors_only=False)
    return [name for plugin in plugins for name in (alias(plugin), plugin.class_name)]


def _complete(ctx: click.Context, begun: str, ask: Callable[[Rest], Iterable[str]]) -> list[str]:
    from copycat_cli.rest import Rest  # noqa: PLC0415 - 65 ms, a quarter of what --help takes

    try:
        tls = tls_context(ctx.params.get("ca"), ctx.params.get("cert"))
        user = login(ctx.params.get("user"), ctx.params.get("token"))
        names = set(ask(Rest(ctx.params["url"], tls=tls, user=user, patience=_COMPLETION_SECONDS)))
    except CliError:
        return []  # a shell that completes has no place for errors
    return sorted(name for name in names if name.startswith(begun))


REACHED = ("url", "ca", "cert")
PEM = click.Path(exists=True, dir_okay=False, path_type=Path)
Work = Callable[..., None]


class ClusterCommand(click.Command):
    """Gives its function a `session`; an error of ours becomes text, advice and an exit code."""

    def invoke(self, ctx: click.Context) -> object:
        """Run it."""
        named = _named(ctx)
        reached = {name: ctx.params.pop(name) for name in (*REACHED, "user", "token")}
        session = CommandSession(form=ctx.params.pop("output"), named=named, **reached)
        ctx.params["session"] = session
        try:
            return super().invoke(ctx)
        except CliError as error:
            click.echo(f"{ctx.command_path}: {error.message}", err=True)
            session.printer.advise("Try:", advice(error, session, ctx.params))
            ctx.exit(error.exit_code)
        except click.Abort:
            click.echo("\nNothing was changed.", err=True)
            ctx.exit(ExitCode.NO)
        finally:
            session.close()


def _named(ctx: click.Context) -> list[str]:
    """Return what the command line says about the cluster, but no url with a password in it."""
    given = {
        name: str(ctx.params[name])
        for name in REACHED
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    return [
        word
        for name, value in given.items()
        if name != "url" or "@" not in value
        for word in (f"--{name}", value)
    ]


class LocalCommand(click.Command):
    """Gives its function a `printer`; an error of ours becomes text and an exit code. No cluster is asked."""

    def invoke(self, ctx: click.Context) -> object:
        """Run it."""
        ctx.params["printer"] = Printer(ctx.params.pop("output"))
        try:
            return super().invoke(ctx)
        except CliError as error:
            click.echo(f"{ctx.command_path}: {error.message}", err=True)
            ctx.exit(error.exit_code)


def local_command(name: str) -> Callable[[Work], LocalCommand]:
    """Declare a command about this machine; its function is given a `printer`, then its own parameters."""

    def declared(work: Work) -> LocalCommand:
        command = click.command(name, cls=LocalCommand)(work)
        command.params.append(_output_option())
        return command

    return declared


def cluster_command(name: str) -> Callable[[Work], ClusterCommand]:
    """Declare a command against a cluster; its function is given a `session`, then its own parameters."""

    def declared(work: Work) -> ClusterCommand:
        command = click.command(name, cls=ClusterCommand)(work)
        url = click.Option(
            ["--url"], envvar="COPYCAT_URL", default=DEFAULT_URL, show_default=True, show_envvar=True,
            metavar="URL", help="REST address of the cluster, of any of its workers.",
        )  # fmt: skip
        ca = click.Option(
            ["--ca"], type=PEM, envvar="COPYCAT_CA", show_envvar=True, metavar="FILE",
            help="With https: trust these certificates (PEM), and no others.",
        )  # fmt: skip
        cert = click.Option(
            ["--cert"], type=PEM, envvar="COPYCAT_CERT", show_envvar=True, metavar="FILE",
            help="With https: show this certificate; the file has its private key too (PEM).",
        )  # fmt: skip
        command.params += [url, ca, cert, _output_option(), user_option(), token_option()]
        return command

    return declared


def _output_option() -> click.Option:
    return click.Option(
        ["-o", "--output"], type=click.Choice([TABLE, JSON]), default=TABLE, show_default=True,
        help="A table for people (aligned text in a pipe), or JSON for programs.",
    )  # fmt: skip
