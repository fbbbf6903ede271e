"""`copycat plugins`: what can run here, and which keys it has."""

from __future__ import annotations

import click

from copycat_cli.api.plugins import ConfigKey, list_plugins, plugin_keys
from copycat_cli.arguments import complete_plugins
from copycat_cli.command import cluster_command
from copycat_cli.errors import NotFoundError
from copycat_cli.output.blocks import Table
from copycat_cli.session import Session
from copycat_cli.similar import similar


@cluster_command("plugins")
@click.argument("plugin", required=False, shell_complete=complete_plugins)
@click.option("--all", "everything", is_flag=True,
              help="Converters, transformations and predicates too, not only connectors.")  # fmt: skip
def plugins(session: Session, plugin: str | None, everything: bool) -> None:
    """List the connector classes there are, or every key of one.

    NAME is what connector.class may say; the whole class name does as well. A key marked * is required.

    \b
    Examples:
      copycat plugins
      copycat plugins FileStreamSource
      copycat plugins --all -o json
    """
    if plugin is None:
        _list(session, everything)
    else:
        _show(session, plugin)


def _list(session: Session, everything: bool) -> None:
    found = list_plugins(session.rest, connectors_only=not everything)
    rows = [(each.alias, each.type, each.version, each.class_name) for each in found]
    session.printer.show(found, Table(("NAME", "TYPE", "VERSION", "CLASS"), rows))
    if found:
        session.next(
            (session.command("plugins", found[0].alias), "its keys"),
            ("copycat create --help", "how to make a connector"),
        )


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
