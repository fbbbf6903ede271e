"""Which tests show which requirement of a KIP: read from the tests, which carry the rows' names.

A test carries a row in its name (`test_k26_29_...`, `test_k26_25_and_39_...`) or by a mark, as in
`@pytest.mark.row("K26-29")`.
`python -m tests.rows` writes the third column of the tables in the pages of `TABLES` anew.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent
TABLES = {
    "K26": ROOT / "integration/kip26/README.md",
    "K875": ROOT / "integration/kip875/README.md",
    "KRETRY": ROOT / "integration/status/README.md",
}
LINE = re.compile(r"^\| (K(?:\d+|RETRY)-T?\d\d) \| (.*?) \|(?: .* \|)?$")
NAMED = re.compile(r"k(26|158|558|875)_(\d\d(?:_and_\d\d|_\d\d)*)")
#: Calls that fail unless something comes true.
DEMANDS = re.compile(r"^(wait|until|arrived|runs|reach|raises|become|status_is)")
#: The mark of what `make test` leaves to `make test-long`.
LONG = "pytest.mark.long"
#: What an answer says besides its status.
CONTENT = re.compile(r"\.(json|text|content|headers)\b|\bjson\(")


@dataclass(frozen=True, slots=True)
class Carrier:
    """A test and the rows it carries."""

    name: str
    """`file::test`, the file seen from the folder of the tests."""
    rows: frozenset[str]
    """The rows."""
    proves: bool
    """True when it demands more than the status of an answer."""
    long: bool = False
    """True when no case of it is part of `make test`."""


@cache
def carriers() -> list[Carrier]:
    """Return every test that carries a row; the tests are read once."""
    return [each for file in sorted(ROOT.rglob("test_*.py")) for each in _carriers(file)]


def shown(kip: str, found: list[Carrier]) -> dict[str, list[str]]:
    """Return the tests of each row of a KIP that a test carries."""
    rows: dict[str, list[str]] = defaultdict(list)
    for carrier in found:
        for row in carrier.rows:
            if row.startswith(f"{kip}-"):
                rows[row].append(carrier.name)
    return dict(sorted(rows.items()))


def with_tests(text: str, rows: dict[str, list[str]]) -> str:
    """Return a page whose rows name the tests that carry them; the table behind "Not yet" stays."""
    page, heading, later = text.partition("\n## Not yet")
    lines = []
    for line in page.split("\n"):
        match = LINE.match(line)
        if match:
            tests = ", ".join(f"`{name}`" for name in rows.get(match[1], ()))
            line = f"| {match[1]} | {match[2]} | {tests} |"  # noqa: PLW2901  # the same line, completed
        lines.append(line)
    return "\n".join(lines) + heading + later


def listed(text: str) -> tuple[list[str], list[str]]:
    """Return the rows a page says are shown, and those it says are not yet, wholly or in part."""
    page, _, later = text.partition("\n## Not yet")
    return _rows(page), _rows(later)


def _rows(text: str) -> list[str]:
    return [match[1] for match in map(LINE.match, text.split("\n")) if match]


def _carriers(file: Path) -> Iterator[Carrier]:
    text = file.read_text("utf-8")
    if not re.search(r"k(26|875)_\d\d|mark\.row\(", text):
        return
    module = ast.parse(text)
    of_module = {row for node in module.body if _is_pytestmark(node) for row in _marked(node)}
    is_long = any(_is_long(node) for node in module.body if _is_pytestmark(node))
    functions = [
        node for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    demanding = {node.name for node in functions if demands_more(node, set())}
    path = file.relative_to(ROOT).as_posix()
    if of_module:
        tests = [node for node in functions if node.name.startswith("test_")]
        proves = any(demands_more(node, demanding) for node in tests) or "Suite)" in text
        yield Carrier(path, frozenset(of_module), proves, is_long)
    for node in functions:
        rows = {row for mark in node.decorator_list for row in _marked(mark)} | _in_name(node.name)
        if node.name.startswith("test_") and rows:
            long = is_long or any(ast.unparse(mark) == LONG for mark in node.decorator_list)
            yield Carrier(f"{path}::{node.name}", frozenset(rows), demands_more(node, demanding), long)


def _is_pytestmark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"


def _is_long(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Attribute) and ast.unparse(each) == LONG for each in ast.walk(node))


def _marked(node: ast.AST) -> Iterator[str]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.row":
            yield from (str(ast.literal_eval(row)) for row in call.args)


def _in_name(name: str) -> set[str]:
    return {f"K{kip}-{row}" for kip, rows in NAMED.findall(name) for row in re.findall(r"\d\d", rows)}


def demands_more(function: ast.AST, demanding: set[str]) -> bool:
    """Return whether a function asserts more than a status, or calls one that does."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            condition = ast.unparse(node.test)
            if "status_code" not in condition or CONTENT.search(condition):
                return True
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).rpartition(".")[2]
            if DEMANDS.match(called) or called in demanding:
                return True
    return False


def main() -> None:
    """Write the pages anew."""
    found = carriers()
    for kip, page in TABLES.items():
        page.write_text(with_tests(page.read_text("utf-8"), shown(kip, found)), "utf-8")


if __name__ == "__main__":
    main()
