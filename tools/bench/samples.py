"""Samples of what the systems wrote: a row compares like with like only if they wrote the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final

import orjson

SAMPLE: Final = 1000


class Samples:
    """Compares the samples of every run of a row with the first, each value as `meaning` reads it."""

    def __init__(self, meaning: Callable[[bytes], Hashable]) -> None:
        self._meaning = meaning
        self._expected: list[Hashable] = []

    def compare(self, values: Sequence[bytes]) -> None:
        """Add a sample.

        Raises:
            RuntimeError: It is too small, or not what the first one was.
        """
        meanings = [self._meaning(value) for value in values]
        if len(meanings) != SAMPLE:
            message = f"a sample has {len(meanings)} values"
            raise RuntimeError(message)
        self._expected = self._expected or meanings
        for found, expected in zip(meanings, self._expected, strict=True):
            if found != expected:
                message = f"the systems wrote {found!r} and {expected!r}"
                raise RuntimeError(message)


def map_entries(line: bytes) -> Hashable:
    """Read Java's text of a map, whose order means nothing."""
    return line[:1], frozenset(line[1:-1].split(b", ")), line[-1:]


def json_entries(value: bytes) -> Hashable:
    """Read a JSON object, whose order means nothing."""
    return frozenset(orjson.loads(value).items())
