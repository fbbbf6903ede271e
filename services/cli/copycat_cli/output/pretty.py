"""Blocks on a terminal: rich tables, states in colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from copycat_cli.output.blocks import Block, Table

COLOURS = {
    "RUNNING": "green",
    "FAILED": "bold red",
    "PAUSED": "yellow",
    "STOPPED": "yellow",
    "UNASSIGNED": "yellow",
    "RESTARTING": "cyan",
    "UNKNOWN": "dim",
    "+": "green",
    "-": "red",
    "~": "yellow",
}
#: Columns of states, and the one without a name: of signs.
COLOURED = ("STATE", "TASKS", "")


def pretty(blocks: Sequence[Block]) -> Group:
    """Return what rich prints for some blocks."""
    return Group(*(part for block in blocks for part in _parts(block)))


def _parts(block: Block) -> Iterator[RenderableType]:
    if block.title:
        yield Text(f"\n{block.title}", style="bold")
    if not isinstance(block, Table):
        yield from map(Text, block.lines)
    elif block.rows:
        yield _table(block)
    elif block.empty:
        yield Text(block.empty, style="dim")


def _table(block: Table) -> RichTable:
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in block.columns:
        table.add_column(column, overflow="fold")
    for row in block.rows:
        table.add_row(*map(_cell, block.columns, row))
    return table


def _cell(column: str, text: str) -> Text:
    known = [COLOURS[word] for word in text.replace(",", " ").split() if word in COLOURS]
    if column not in COLOURED or not known:
        return Text(text)
    return Text(text, style=COLOURS["FAILED"] if "FAILED" in text else known[0])
