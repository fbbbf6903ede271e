"""What a terminal shows: blocks as tables, states in colour, and a part that is redrawn in place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table as RichTable
from rich.text import Text

from copycat_cli.output.blocks import Block, TableBlock

_COLOURS = {
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
_COLOURED = ("STATE", "TASKS", "")


def pretty(blocks: Sequence[Block]) -> Group:
    """Return what rich prints for some blocks."""
    return Group(*(part for block in blocks for part in _parts(block)))


def _parts(block: Block) -> Iterator[RenderableType]:
    if block.title:
        yield Text(f"\n{block.title}", style="bold")
    if not isinstance(block, TableBlock):
        yield from map(Text, block.lines)
    elif block.rows:
        yield _table(block)
    elif block.empty:
        yield Text(block.empty, style="dim")


def _table(block: TableBlock) -> RichTable:
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in block.columns:
        table.add_column(column, overflow="fold")
    for row in block.rows:
        table.add_row(*map(_cell, block.columns, row))
    return table


def _cell(column: str, text: str) -> Text:
    known = [_COLOURS[word] for word in text.replace(",", " ").split() if word in _COLOURS]
    if column not in _COLOURED or not known:
        return Text(text)
    return Text(text, style=_COLOURS["FAILED"] if "FAILED" in text else known[0])


def print_blocks(blocks: Sequence[Block], *, stderr: bool = False) -> None:
    """Print some blocks as tables, states in colour."""
    Console(highlight=False, stderr=stderr).print(pretty(blocks))


class LiveScreen:
    """The newest state, in place of the one before."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, tree: object, *blocks: Block) -> None:
        """Show this state."""
        self._live.update(pretty(blocks), refresh=True)


@contextmanager
def live_screen() -> Iterator[LiveScreen]:
    """Give a screen that stays as it was last when it ends."""
    with Live(console=Console(highlight=False), auto_refresh=False) as live:
        yield LiveScreen(live)
