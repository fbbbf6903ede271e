"""What a terminal shows: blocks in colour, and a part that is redrawn in place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live

from copycat_cli.output.blocks import Block
from copycat_cli.output.pretty import pretty


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
