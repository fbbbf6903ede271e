"""What is shown, before it is known on what: tables and lines, each under a title of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Rows under columns."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    empty: str = ""
    """Said instead when there are no rows."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text as it is."""

    lines: Sequence[str]
    title: str = ""


Block = TableBlock | TextBlock
