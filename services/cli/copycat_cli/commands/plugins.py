"""`copycat plugins`: what a cluster can run and which keys it has; below it, packages on this machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import click
from copycat_rest.answers import ConfigKeyInfo, UnloadablePluginInfo
from packaging.utils import canonicalize_name

from copycat_cli.advice import similar
from copycat_cli.api.workers import (
    alias,
    list_plugins,
    plugin_keys,
    unloadable_plugins,
)
from copycat_cli.command import cluster_command, complete_plugins, local_command
from copycat_cli.errors import PluginPackageError, UnknownNameError
from copycat_cli.output.blocks import TableBlock
from copycat_cli.output.printer import Printer
from copycat_cli.packages.adding import Known, PluginPackages
from copycat_cli.packages.record import PackageRecord, read_source, record_folder
from copycat_cli.session import CommandSession

#: After the first sentence of what is said of a key.
_SENTENCE_END: Final = re.compile(r"(?<!e\.g)(?<!\.)\. (?=[A-Z])|\n")
RESTART = (
    "Copycat loads plugins when it starts: stop and start it again "
    "(on several machines: add it on each, then restart each)"
)


@local_command("add")
@click.argument("source", metavar="PACKAGE|WHEEL|FOLDER")
def add(printer: Printer, source: str) -> None:
    """Install connectors or other plugins.

    PACKAGE is a name in a package index, with or without a version; WHEEL a .whl file; FOLDER the source of a
    Python package, with its pyproject.toml: it is used in place, so that an edit counts after a restart.

    Copycat's own packages keep their versions: a package that needs others is refused. What was added stays
    when `make setup` or a new version makes the environment anew. A running Copycat sees it after a restart.

    \b
    Examples:
      copycat plugins add copycat-orders
      copycat plugins add 'copycat-orders>=1.2,<2'
      copycat plugins add dist/copycat_orders-1.2-py3-none-any.whl
      copycat plugins add ./my-connector
    """
    added = _packages().add(read_source(source))
    lines = [f"{added.recorded.name} {added.version} added", *_plugins(added)]
    printer.did(_tree(added), *lines)
    printer.advise("Next:", [RESTART])


@local_command("list")
def list_packages(printer: Printer) -> None:
    """List the packages of plugins that were added.

    Each with where it came from and which plugins it has, or why these cannot be loaded.

    \b
    Examples:
      copycat plugins list
      copycat plugins list -o json
    """
    known = _packages().known()
    rows = [
        (each.recorded.name, each.version or "missing", each.recorded.source, "; ".join(_state(each)))
        for each in known
    ]
    empty = "No plugins were added; copycat plugins lists those that came with Copycat."
    printer.show(
        [_tree(each) for each in known],
        TableBlock(("PACKAGE", "VERSION", "FROM", "PLUGINS"), rows, empty=empty),
    )


@local_command("remove")
@click.argument("package")
def remove(printer: Printer, package: str) -> None:
    """Remove a package of plugins that was added.

    What came with it and nothing else needs goes too. Connectors that use it fail at the next restart.

    \b
    Examples:
      copycat plugins list
      copycat plugins remove copycat-orders
    """
    name = canonicalize_name(package)
    _packages().remove(name)
    printer.did({"name": name}, f"{name} removed")
    printer.advise("Next:", [RESTART])


@local_command("restore")
def restore(printer: Printer) -> None:
    """Install again what was added.

    `make setup` does it by itself. It is for when another program made the environment anew.

    \b
    Example:
      copycat plugins restore
    """
    failures: list[str] = []
    done = _packages().restore(lambda name, reason: failures.append(f"{name}: {reason}"))
    printer.did([{"name": name} for name in done], *(f"{name} is there" for name in done))
    if failures:
        missing = "\n".join(failures)
        raise PluginPackageError(
            f"Not all plugins that were added could be installed again.\n{missing}\n"
            "Once that is mended: copycat plugins restore; without it: copycat plugins remove NAME"
        )


def _packages() -> PluginPackages:
    return PluginPackages(PackageRecord(record_folder()))


def _plugins(known: Known) -> list[str]:
    return [f"  {plugin.type} {plugin.class_name}" for plugin in known.loaded.plugins]


def _state(known: Known) -> list[str]:
    if known.version is None:
        return ["not installed: copycat plugins restore"]
    return [*(plugin.class_name for plugin in known.loaded.plugins), *known.loaded.failures]


def _tree(known: Known) -> dict[str, object]:
    return {
        "name": known.recorded.name,
        "version": known.version,
        "kind": known.recorded.kind.value,
        "source": known.recorded.source,
        "plugins": known.loaded.plugins,
        "failures": known.loaded.failures,
    }


UNLOADABLE = "Installed but not loadable"
SHOW = "show"


@cluster_command(SHOW)
@click.argument("plugin", required=False, shell_complete=complete_plugins)
@click.option("--all", "everything", is_flag=True,
              help="Converters, transformations and predicates too, not only connectors.")  # fmt: skip
@click.option("--unloadable", is_flag=True,
              help="Only those that are installed but cannot be loaded, with the reason.")  # fmt: skip
def show(session: CommandSession, plugin: str | None, everything: bool, unloadable: bool) -> None:
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
        _list_plugins(session, everything)
    else:
        _show_keys(session, plugin)


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


def _list_plugins(session: CommandSession, everything: bool) -> None:
    found = list_plugins(session.rest, connectors_only=not everything)
    rows = [(alias(each), each.type, each.version or "", each.class_name) for each in found]
    broken = unloadable_plugins(session.rest)
    below = [_broken_table(broken, UNLOADABLE)] if broken else []
    session.printer.show(found, TableBlock(("NAME", "TYPE", "VERSION", "CLASS"), rows), *below)
    if found:
        session.next(
            (session.command("plugins", alias(found[0])), "its keys"),
            ("copycat create --help", "how to make a connector"),
        )


def _broken_table(broken: Sequence[UnloadablePluginInfo], title: str) -> TableBlock:
    rows = [(each.package, each.package_version, each.entry_point, each.reason) for each in broken]
    columns = ("PACKAGE", "VERSION", "ENTRY POINT", "WHY")
    return TableBlock(columns, rows, title, "Every installed plugin can be loaded.")


def _show_keys(session: CommandSession, plugin: str) -> None:
    try:
        keys = plugin_keys(session.rest, plugin)
    except UnknownNameError as error:
        names = map(alias, list_plugins(session.rest, connectors_only=False))
        known = {name.rpartition(".")[2]: name for name in names}
        close = ", ".join(known[each] for each in similar(plugin, known)) or "none is similar"
        hint = f"Names like it: {close}; copycat plugins --all lists those there are"
        raise UnknownNameError(f"{error.message} {hint}") from error
    rows = [_key_row(key) for key in keys]
    session.printer.show(keys, TableBlock(("KEY", "TYPE", "DEFAULT", "WHAT FOR"), rows))
    session.next(("copycat create --help", "how to put them into a file"))


def _key_row(key: ConfigKeyInfo) -> tuple[str, ...]:
    name = f"{key.name} *" if key.required else key.name
    return (name, key.type, key.default_value or "", _SENTENCE_END.split(key.documentation.strip(), 1)[0])
