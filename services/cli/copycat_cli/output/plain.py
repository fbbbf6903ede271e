"""Blocks as aligned text, for pipes and scripts: one row a line, no colour, nothing cut off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from copycat_cli.output.blocks import Block, Table

GAP = "  "
ONE_LINE = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


def plain(blocks: Sequence[Block]) -> str:
    """Return the text of some blocks, with a blank line between those that are not empty."""
    return "\n\n".join(text for block in blocks if (text := "\n".join(_lines(block))))


def _lines(block: Block) -> Iterator[str]:
    if block.title:
        yield block.title
    if not isinstance(block, Table):
        yield from block.lines
    elif block.rows:
        yield from _aligned([block.columns, *block.rows])
    elif block.empty:
        yield block.empty


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    cells = [[cell.translate(ONE_LINE) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        yield GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
