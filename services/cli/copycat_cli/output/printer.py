"""Prints the answers of commands: tables for people, aligned text for pipes, JSON for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import click
import msgspec

from copycat_cli.output.blocks import Block, TableBlock, TextBlock

TABLE, JSON = "table", "json"


class Screen(Protocol):
    """Something that shows a state and replaces it by the next."""

    def show(self, tree: object, *blocks: Block) -> None:
        """Show this state."""


class Printer:
    """Answers go to stdout, advice to stderr; JSON is never mixed with words."""

    def __init__(self, form: str) -> None:
        """Print as `table` or as `json`."""
        self._json = form == JSON

    @property
    def terminal(self) -> bool:
        """Whether somebody looks at a screen that can be redrawn."""
        return not self._json and sys.stdout.isatty()

    def show(self, tree: object, *blocks: Block) -> None:
        """Print an answer: the tree as JSON, or the blocks."""
        if self._json:
            click.echo(msgspec.json.format(msgspec.json.encode(tree), indent=2))
        elif self.terminal:
            from copycat_cli.output.terminal import print_blocks  # 30 ms that answers into a pipe save

            print_blocks(blocks)
        else:
            click.echo(plain(blocks))

    def did(self, tree: object, *lines: str) -> None:
        """Print what was done."""
        self.show(tree, TextBlock(lines))

    def show_first(self, *blocks: Block) -> None:
        """Print what a question is about, on stderr: it is no answer yet."""
        if not self._json and sys.stderr.isatty():
            from copycat_cli.output.terminal import print_blocks  # as above

            print_blocks(blocks, stderr=True)
        else:
            click.echo(plain(blocks), err=True)

    def advise(self, title: str, lines: Sequence[str]) -> None:
        """Say what to do next, on stderr."""
        if not self._json and lines:
            click.echo("\n".join((title, *(f"  {line}" for line in lines))), err=True)

    @contextmanager
    def screen(self) -> Iterator[Screen]:
        """Show one state after the other: in place on a terminal, else each that differs from the last."""
        if not self.terminal:
            yield _Changes(self)
            return
        from copycat_cli.output.terminal import live_screen  # as above

        with live_screen() as screen:
            yield screen


class _Changes:
    """Prints each state that differs from the last below it."""

    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self._last: object = None

    def show(self, tree: object, *blocks: Block) -> None:
        if tree != self._last:
            self._printer.show(tree, *blocks)
            self._last = tree


_GAP = "  "
_ONE_LINE = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


def plain(blocks: Sequence[Block]) -> str:
    """Return the text of some blocks, with a blank line between those that are not empty."""
    return "\n\n".join(text for block in blocks if (text := "\n".join(_lines(block))))


def _lines(block: Block) -> Iterator[str]:
    if block.title:
        yield block.title
    if not isinstance(block, TableBlock):
        yield from block.lines
    elif block.rows:
        yield from _aligned([block.columns, *block.rows])
    elif block.empty:
        yield block.empty


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    cells = [[cell.translate(_ONE_LINE) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        yield _GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
