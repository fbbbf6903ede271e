"""The pages of the built-in plugins that are documented here: `python -m copycat_plugins.pages` writes them.

The page of a connector or a REST extension is the README of its package; that of a transformation of our own
lies beside its module.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from inspect import getfile
from itertools import groupby
from pathlib import Path
from typing import Final

from copycat_connect.plugin import PluginKind, PluginSpec, load_plugins, render_page

from copycat_plugins.index import connector_index

INDEX: Final = Path(__file__).parent.parent / "CONNECTORS.md"
"""The table of the connectors."""


def pages() -> Iterator[tuple[Path, str]]:
    """Yield the file and the text of each page; the plugins of one module share theirs."""
    plugins = load_plugins().all()
    for file, specs in groupby(plugins, _page):
        if file is not None:
            yield file, "\n".join(map(render_page, specs))
    connectors = [(file, spec) for spec in plugins if spec.kind.is_connector and (file := _page(spec))]
    yield INDEX, connector_index(connectors, INDEX.parent)


def _page(spec: PluginSpec) -> Path | None:
    """Return the file of a plugin's page; None for others' plugins, and for those Kafka Connect describes."""
    module = getattr(spec.factory, "__module__", "")
    if (spec.kind.is_connector or spec.kind is PluginKind.REST_EXTENSION) and module.startswith(
        "copycat_plugins."
    ):
        return Path(getfile(import_module(module))).with_name("README.md")
    own = spec.class_name.rpartition(".")[0]
    return (
        Path(getfile(import_module(own))).with_suffix(".md") if own.startswith("copycat_plugins.") else None
    )


def main() -> None:
    """Write the pages of all plugins beside their code."""
    for file, text in pages():
        file.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
