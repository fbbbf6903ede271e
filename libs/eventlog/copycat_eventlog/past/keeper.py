"""Where changes are kept: the port, and the memory of a standalone worker."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import count
from typing import Final, Protocol, TypeAlias

from copycat_eventlog.past.change import PastChange

Visit: TypeAlias = Callable[[PastChange], None]
"""Takes one change after the other, in no order that counts."""
MAX_IN_MEMORY: Final = 5_000


class ChangesKeeper(Protocol):
    """Keeps changes as long as its bounds allow; never in the way of who reports one."""

    def append(self, change: PastChange) -> None:
        """Keep a change; returns at once. What cannot be kept costs a line in the log, and nothing else."""
        ...

    async def scan(self, connector: str, kinds: Collection[str], visit: Visit) -> None:
        """Pass every kept change of these kinds, and maybe others, to `visit`.

        It may be called in another thread.

        Raises:
            UnavailableError: They could not be read in time.
        """
        ...

    async def close(self) -> None:
        """Hand over what waits, for a moment, and let go of everything."""
        ...


class MemoryKeeper:
    """The newest changes of this process."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._kept: deque[PastChange] = deque(maxlen=MAX_IN_MEMORY)
        self._number = count()

    def append(self, change: PastChange) -> None:
        """Keep it, in place of the oldest where there are many."""
        self._kept.append(replace(change, place=f"m{next(self._number):012d}"))

    async def scan(self, connector: str, kinds: Collection[str], visit: Visit) -> None:
        """Visit those of a connector."""
        for change in tuple(self._kept):
            if change.connector == connector and change.kind in kinds:
                visit(change)

    async def close(self) -> None:
        """There is nothing to let go of."""
