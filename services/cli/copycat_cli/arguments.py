"""Arguments that several commands take, and how a shell completes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from copycat_cli.api.connectors import connector_names
from copycat_cli.api.plugins import list_plugins
from copycat_cli.credentials import login
from copycat_cli.errors import CliError
from copycat_cli.trust import tls_context

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

COMPLETION_SECONDS = 2.0
FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
W = TypeVar("W", bound=Callable[..., None])


def connector_argument(work: W) -> W:
    """Add the argument for the name of one connector."""
    return click.argument("connector", shell_complete=complete_connectors)(work)


def connectors_argument(*, required: bool) -> Callable[[W], W]:
    """Add the argument for names of connectors."""
    return click.argument("connectors", nargs=-1, required=required, shell_complete=complete_connectors)


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


def complete_connectors(ctx: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Return the names of connectors that begin like this."""
    return _complete(ctx, begun, connector_names)


def complete_plugins(ctx: click.Context, _: click.Parameter, begun: str) -> list[str]:
    """Return the names of plugins that begin like this."""
    return _complete(ctx, begun, _plugin_names)


def _plugin_names(rest: Rest) -> Sequence[str]:
    plugins = list_plugins(rest, connectors_only=False)
    return [name for plugin in plugins for name in (plugin.alias, plugin.class_name)]


def _complete(ctx: click.Context, begun: str, ask: Callable[[Rest], Iterable[str]]) -> list[str]:
    from copycat_cli.rest import Rest  # noqa: PLC0415 - 65 ms, a quarter of what --help takes

    try:
        tls = tls_context(ctx.params.get("ca"), ctx.params.get("cert"))
        user = login(ctx.params.get("user"), ctx.params.get("token"))
        names = set(ask(Rest(ctx.params["url"], tls=tls, user=user, patience=COMPLETION_SECONDS)))
    except CliError:
        return []  # a shell that completes has no place for errors
    return sorted(name for name in names if name.startswith(begun))
