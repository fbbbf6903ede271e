"""The pages of the built-in connectors: `python -m copycat_plugins.pages` writes each one into its room."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from copycat_connect.plugin import load_plugins, render_page


def pages() -> Iterator[tuple[Path, str]]:
    """Yield the file and the text of each built-in connector's page."""
    for spec in load_plugins().all():
        module = getattr(spec.factory, "__module__", "")
        if spec.kind.is_connector and module.startswith("copycat_plugins."):
            room = files(module.rpartition(".")[0])
            yield Path(str(room / "README.md")), render_page(spec)


def main() -> None:
    """Write them."""
    for file, text in pages():
        file.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
