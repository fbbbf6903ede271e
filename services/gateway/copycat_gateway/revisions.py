"""Read your own writes, whichever instance of a service answers."""

from __future__ import annotations

from copycat.types.v1 import types_pb2


class Written:
    """The newest revision this gateway's own writes reached; its reads ask for no less (I4).

    A single instance answers a write only once its reads show it, so nothing is asked of it: a floor that
    outlived its log would only make reads wait.
    """

    def __init__(self, instances: int) -> None:
        self._standbys = instances > 1
        self._next: dict[int, int] = {}

    def note(self, revision: types_pb2.Revision) -> None:
        """Remember where a write is visible."""
        if self._standbys:
            for partition, offset in revision.next.items():
                self._next[partition] = max(offset, self._next.get(partition, 0))

    def floor(self) -> types_pb2.Revision:
        """Return the least revision a read may be answered at."""
        return types_pb2.Revision(next=self._next)
