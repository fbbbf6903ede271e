"""What makes a function a command against a cluster, or about this machine: options, errors, exit codes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
from click.core import ParameterSource

from copycat_cli.advice import advice
from copycat_cli.credentials import token_option, user_option
from copycat_cli.errors import CliError
from copycat_cli.exits import ExitCode
from copycat_cli.output.printer import JSON, TABLE, Printer
from copycat_cli.session import DEFAULT_URL, Session

REACHED = ("url", "ca", "cert")
PEM = click.Path(exists=True, dir_okay=False, path_type=Path)
Work = Callable[..., None]


class ClusterCommand(click.Command):
    """Gives its function a `session`; an error of ours becomes text, advice and an exit code."""

    def invoke(self, ctx: click.Context) -> object:
        """Run it."""
        named = _named(ctx)
        reached = {name: ctx.params.pop(name) for name in (*REACHED, "user", "token")}
        session = Session(form=ctx.params.pop("output"), named=named, **reached)
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
