"""`copycat plugins add`, `list`, `remove`, `restore`: packages of plugins on this machine."""

from __future__ import annotations

import click
from packaging.utils import canonicalize_name

from copycat_cli.command import local_command
from copycat_cli.errors import PluginPackageError
from copycat_cli.output.blocks import Table
from copycat_cli.output.printer import Printer
from copycat_cli.packages.adding import Known, PluginPackages
from copycat_cli.packages.record import PackageRecord, record_folder
from copycat_cli.packages.source import read_source

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
        Table(("PACKAGE", "VERSION", "FROM", "PLUGINS"), rows, empty=empty),
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
