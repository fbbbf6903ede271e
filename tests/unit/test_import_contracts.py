"""The import contracts leave nothing out: no package of the product, and no library that it uses."""

from __future__ import annotations

import ast
import configparser
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Tests' own, and generated: no contracts of their own.
NOT_THE_PRODUCT = frozenset({"copycat_testkit"})
CONTRACTS = configparser.ConfigParser()
CONTRACTS.read(ROOT / ".importlinter")


def entries(section: str, key: str) -> list[str]:
    """Return the lines of a list in the contracts."""
    return CONTRACTS[section].get(key, "").split()


def product() -> dict[str, Path]:
    """Return the packages of the product with their folders."""
    folders = (*ROOT.glob("libs/*/copycat_*"), *ROOT.glob("services/*/copycat_*"))
    return {folder.name: folder for folder in folders if folder.name not in NOT_THE_PRODUCT}


def imported(file: Path) -> Iterator[str]:
    """Yield the top packages that a file imports."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_the_contracts_know_every_package() -> None:
    assert set(entries("importlinter", "root_packages")) == set(product())


def test_every_library_that_the_product_imports_has_its_place() -> None:
    placed = {
        library
        for section in CONTRACTS.sections()
        if CONTRACTS[section].get("type") == "protected"
        for library in entries(section, "protected_modules")
    }
    ours = {"copycat", *product(), *sys.stdlib_module_names}
    used: dict[str, str] = {}
    for folder in product().values():
        for file in folder.rglob("*.py"):
            for library in imported(file):
                used.setdefault(library, str(file.relative_to(ROOT)))
    assert not {library: where for library, where in used.items() if library not in placed | ours}


def test_no_package_of_the_product_may_import_in_a_circle() -> None:
    (section,) = (name for name in CONTRACTS.sections() if CONTRACTS[name].get("type") == "acyclic_siblings")
    assert set(entries(section, "ancestors")) == set(product())
