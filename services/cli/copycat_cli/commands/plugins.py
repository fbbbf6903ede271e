"""`copycat plugins`: what a cluster can run and which keys it has; below it, packages on this machine."""

from __future__ import annotations

from collections.abc import Sequence

import click

from copycat_cli.api.plugins import (
    ConfigKey,
    UnloadablePlugin,
    list_plugins,
    plugin_keys,
    unloadable_plugins,
)
from copycat_cli.arguments import complete_plugins
from copycat_cli.command import cluster_command
from copycat_cli.commands.plugin_packages import add, list_packages, remove, restore
from copycat_cli.errors import NotFoundError
from copycat_cli.output.blocks import Table
from copycat_cli.session import Session
from copycat_cli.similar import similar

UNLOADABLE = "Installed but not loadable"
SHOW = "show"


@cluster_command(SHOW)
@click.argument("plugin", required=False, shell_complete=complete_plugins)
@click.option("--all", "everything", is_flag=True,
              help="Converters, transformations and predicates too, not only connectors.")  # fmt: skip
@click.option("--unloadable", is_flag=True,
              help="Only those that are installed but cannot be loaded, with the reason.")  # fmt: skip
def show(session: Session, plugin: str | None, everything: bool, unloadable: bool) -> None:
    """List what a cluster can run, or every key of one plugin.

    NAME is what connector.class may say; the whole class name does as well. A key marked * is required.
    Plugins that are installed but cannot be loaded are listed below the others, with the reason. The word
    `show` may be left out.

    \b
    Examples:
      copycat plugins
      copycat plugins FileStreamSource
      copycat plugins show --all -o json
      copycat plugins --unloadable -o json
    """
    if unloadable:
        broken = unloadable_plugins(session.rest)
        session.printer.show(broken, _broken_table(broken, ""))
    elif plugin is None:
        _list(session, everything)
    else:
        _show(session, plugin)


class _Plugins(click.Group):
    """Shows what there is when the first word is not one of its commands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the word that may be left out."""
        own = {*self.commands, *ctx.help_option_names}
        return super().parse_args(ctx, args if args and args[0] in own else [SHOW, *args])


@click.group(
    "plugins", cls=_Plugins, commands=[show, add, list_packages, remove, restore], no_args_is_help=False
)
def plugins() -> None:
    """List connectors and other plugins, or add some.

    Without a command it lists the connector classes of a cluster, with the name of one every key of it;
    options as those of `copycat plugins show`.

    \b
    Examples:
      copycat plugins
      copycat plugins FileStreamSource
      copycat plugins --all -o json
      copycat plugins --unloadable -o json
      copycat plugins add ./my-connector
    """


def _list(session: Session, everything: bool) -> None:
    found = list_plugins(session.rest, connectors_only=not everything)
    rows = [(each.alias, each.type, each.version, each.class_name) for each in found]
    broken = unloadable_plugins(session.rest)
    below = [_broken_table(broken, UNLOADABLE)] if broken else []
    session.printer.show(found, Table(("NAME", "TYPE", "VERSION", "CLASS"), rows), *below)
    if found:
        session.next(
            (session.command("plugins", found[0].alias), "its keys"),
            ("copycat create --help", "how to make a connector"),
        )


def _broken_table(broken: Sequence[UnloadablePlugin], title: str) -> Table:
    rows = [(each.package, each.package_version, each.entry_point, each.reason) for each in broken]
    columns = ("PACKAGE", "VERSION", "ENTRY POINT", "WHY")
    return Table(columns, rows, title, "Every installed plugin can be loaded.")


def _show(session: Session, plugin: str) -> None:
    try:
        keys = plugin_keys(session.rest, plugin)
    except NotFoundError as error:
        known = [each.alias for each in list_plugins(session.rest, connectors_only=False)]
        close = ", ".join(similar(plugin, known)) or "none is similar"
        hint = f"Names like it: {close}; copycat plugins --all lists those there are"
        raise NotFoundError(f"{error.message} {hint}") from error
    rows = [_row(key) for key in keys]
    session.printer.show(keys, Table(("KEY", "TYPE", "DEFAULT", "WHAT FOR"), rows))
    session.next(("copycat create --help", "how to put them into a file"))


def _row(key: ConfigKey) -> tuple[str, ...]:
    name = f"{key.name} *" if key.required else key.name
    sentence = key.documentation.strip().partition(". ")[0].partition("\n")[0]
    return (name, key.type, key.default_value or "", sentence)
