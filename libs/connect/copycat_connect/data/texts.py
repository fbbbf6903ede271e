"""Texts held as the UTF-8 they came in: no text object for each until one is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload


class Texts(Sequence[str]):
    """What a converter makes of many encoded texts, for whoever writes them on in the same encoding."""

    __slots__ = ("_texts", "encoded")

    encoded: Sequence[bytes]
    """The UTF-8 of each."""

    def __init__(self, encoded: Sequence[bytes]) -> None:
        """Wrap texts, each of them valid UTF-8; nothing is checked."""
        self.encoded = encoded
        self._texts: list[str] | None = None

    def __len__(self) -> int:
        return len(self.encoded)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self._decoded()[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._decoded())

    def _decoded(self) -> list[str]:
        if self._texts is None:
            self._texts = [data.decode() for data in self.encoded]
        return self._texts
