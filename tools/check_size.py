"""Fail when a module is too long, or when more than before are too short to stand alone.

A concept is a module: one above 400 lines has a seam, and one below 80 that a single neighbour imports
belongs into that one. Programs, settings and plugin descriptions may be short.
"""

import configparser
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
MAX_LINES = 400
#: Of a module that exactly one module imports, which lies in its own package.
MIN_LINES = 80
#: So many are shorter today. It only falls.
MAX_SPLINTERS = 6
#: Modules that are what their name says, however little that is.
STANDALONE = {"__init__", "__main__", "main", "settings", "plugin"}


def _python_files() -> Iterator[tuple[str, int]]:
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    for name in listed.stdout.split():
        path = ROOT / name
        if not name.startswith("libs/contracts/") and path.is_file():
            yield name, len(path.read_text().splitlines())


def splinters(graph: grimp.ImportGraph, lines: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Yield short modules that a single module imports, a neighbour, with the name of that.

    Args:
        graph: The imports of the packages.
        lines: The length of each module.
    """
    for name, count in sorted(lines.items()):
        if count >= MIN_LINES or name.rpartition(".")[2] in STANDALONE or name not in graph.modules:
            continue
        importers = graph.find_modules_that_directly_import(name)
        if len(importers) == 1 and not graph.find_children(name):
            (importer,) = importers
            if importer.rpartition(".")[0] == name.rpartition(".")[0]:
                yield name, importer


def _module(name: str) -> str:
    """Return the module of a file of a package: its first two folders are no packages."""
    return ".".join(Path(name).with_suffix("").parts[2:]).removesuffix(".__init__")


def main() -> int:
    """Name every file above its limit, and the short ones when there are too many."""
    files = dict(_python_files())
    long = [
        f"{name}: {count} lines, more than {MAX_LINES}" for name, count in files.items() if count > MAX_LINES
    ]
    for line in long:
        print(f"{line}: find the seam and split it")
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    packages = contracts["importlinter"]["root_packages"].split()
    graph = grimp.build_graph(*packages, cache_dir=str(ROOT / ".import_linter_cache"))
    lines = {_module(name): count for name, count in files.items() if name.startswith(("libs/", "services/"))}
    short = list(splinters(graph, lines))
    if "--list" in sys.argv or len(short) > MAX_SPLINTERS:
        for name, importer in short:
            print(f"{name}: {lines[name]} lines, used by {importer} alone")
    if len(short) > MAX_SPLINTERS:
        print(f"{len(short)} such modules, more than {MAX_SPLINTERS}: join one with the module that uses it")
    return int(bool(long) or len(short) > MAX_SPLINTERS)


if __name__ == "__main__":
    sys.exit(main())
