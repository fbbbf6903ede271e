"""The list of rows leaves none out and names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
ROWS = {*range(20, 49), *range(57, 61), *range(74, 95)}
LIST = (HERE / "README.md").read_text()


def test_every_row_is_listed() -> None:
    rows = [line.split("|")[1] for line in LIST.splitlines() if line.startswith("| K26-")]
    assert {int(row) for listed in rows for row in re.findall(r"K26-(\d+)", listed)} == ROWS


def test_every_test_that_is_named_is_there() -> None:
    here = "".join(file.read_text() for file in HERE.rglob("test_*.py"))
    named = re.findall(r"`(?:(\S+\.py)(?:::)?)?(test_\w+)?`", LIST)
    wrong = [
        (file, test)
        for file, test in named
        if not (ROOT / file).exists() or (f"def {test}(" not in (_text(file) if file else here) and test)
    ]
    assert len(named) > len(ROWS) // 2
    assert wrong == []


def _text(file: str) -> str:
    return (ROOT / file).read_text()
