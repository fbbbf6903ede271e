"""Blocks: record numbers in portions of which each belongs to one stream, and what chance says of a block.

Numbers `block * BLOCK` to `block * BLOCK + BLOCK - 1` are a block. Block b belongs to stream b modulo the
number of streams, so every number belongs to one stream, whatever their number is.
"""

from __future__ import annotations

import sys
from array import array
from hashlib import shake_128
from typing import Final

#: Part of what a seed means: another size would give other records.
BLOCK: Final = 2000
_WORD_BYTES = 8


def chance_bytes(seed: int, path: str, block: int, count: int) -> bytes:
    """Return bytes that depend on the seed, the field's path and the block alone, on every machine."""
    return shake_128(f"{seed}\0{path}\0{block}".encode()).digest(count)


def chance_words(seed: int, path: str, block: int) -> array[int]:
    """Return an unsigned number of 64 bits for each record of a block."""
    words = array("Q", chance_bytes(seed, path, block, BLOCK * _WORD_BYTES))
    if sys.byteorder == "big":
        words.byteswap()
    return words


def first_of(stream: int) -> int:
    """Return the first number of a stream."""
    return stream * BLOCK


def is_of(number: int, stream: int, streams: int) -> bool:
    """Tell whether a number is one of a stream's."""
    return number // BLOCK % streams == stream


def place_of(number: int, streams: int) -> int:
    """Return how many numbers of its own stream come before a number."""
    return number // BLOCK // streams * BLOCK + number % BLOCK


def numbers_of(stream: int, streams: int, end: int) -> int:
    """Return how many numbers below `end` are a stream's."""
    rounds, rest = divmod(end, BLOCK * streams)
    return rounds * BLOCK + min(max(rest - first_of(stream), 0), BLOCK)


def following(number: int, streams: int) -> int:
    """Return the number that follows in the same stream."""
    after = number + 1
    return after if after % BLOCK else after + (streams - 1) * BLOCK
