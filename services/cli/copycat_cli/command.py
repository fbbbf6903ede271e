"""What makes a function a command against a cluster: --url, -o, errors with advice, exit codes."""

from __future__ import annotations

from collections.abc import Callable

import click
from click.core import ParameterSource

from copycat_cli.advice import advice
from copycat_cli.errors import CliError
from copycat_cli.exits import ExitCode
from copycat_cli.output.printer import JSON, TABLE
from copycat_cli.session import DEFAULT_URL, Session

Work = Callable[..., None]


class ClusterCommand(click.Command):
    """Gives its function a `session`; an error of ours becomes text, advice and an exit code."""

    def invoke(self, ctx: click.Context) -> object:
        """Run it."""
        named = ctx.get_parameter_source("url") is ParameterSource.COMMANDLINE
        session = Session(ctx.params.pop("url"), ctx.params.pop("output"), named=named)
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


def cluster_command(name: str) -> Callable[[Work], ClusterCommand]:
    """Declare a command against a cluster; its function is given a `session`, then its own parameters."""

    def declared(work: Work) -> ClusterCommand:
        command = click.command(name, cls=ClusterCommand)(work)
        url = click.Option(
            ["--url"], envvar="COPYCAT_URL", default=DEFAULT_URL, show_default=True, show_envvar=True,
            metavar="URL", help="REST address of the cluster, of any of its workers.",
        )  # fmt: skip
        output = click.Option(
            ["-o", "--output"], type=click.Choice([TABLE, JSON]), default=TABLE, show_default=True,
            help="A table for people (aligned text in a pipe), or JSON for programs.",
        )  # fmt: skip
        command.params += [url, output]
        return command

    return declared
