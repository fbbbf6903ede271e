"""Questions about the past of a connector, answered from the changes topic and the service's own log."""

from __future__ import annotations

import heapq
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Protocol

from copycat_eventlog.past.change import SHOWN_KINDS, PastChange
from copycat_eventlog.past.keeper import ChangesKeeper, Visit

MAX_PAGE: Final = 1_000
DEFAULT_PAGE: Final = 100


class Scanned(Protocol):
    """Something whose changes can be visited."""

    @property
    def kinds(self) -> Collection[str]:
        """The kinds of changes that it shows."""
        ...

    async def scan(self, connector: str, visit: Visit) -> None:
        """Visit every change of a connector."""
        ...


@dataclass(frozen=True, slots=True)
class HistoryQuestion:
    """Which changes are wanted."""

    connector: str
    kinds: Collection[str] = SHOWN_KINDS
    since_ms: int | None = None
    until_ms: int | None = None
    before_id: str = ""
    """Only changes older than this one."""
    limit: int = DEFAULT_PAGE

    def wants(self, change: PastChange) -> bool:
        """Return whether a change is one of them."""
        return (
            change.kind in self.kinds
            and (self.since_ms is None or change.time_ms >= self.since_ms)
            and (self.until_ms is None or change.time_ms <= self.until_ms)
            and (not self.before_id or change.id < self.before_id)
        )


class PastChanges:
    """The changes of one service. The log of the service wins nothing over the topic: it knows no asker."""

    def __init__(self, keeper: ChangesKeeper, own_log: Scanned | None) -> None:
        """`own_log` is None where the keeper has seen everything, as in a standalone worker."""
        self._keeper = keeper
        self._own_log = own_log

    async def page(self, question: HistoryQuestion) -> list[PastChange]:
        """Return the newest changes that are wanted, newest first.

        Raises:
            UnavailableError: They could not be read in time.
        """
        newest: list[tuple[str, PastChange]] = []
        limit = max(1, min(question.limit, MAX_PAGE))

        def visit(change: PastChange) -> None:
            if not question.wants(change):
                return
            if len(newest) < limit:
                heapq.heappush(newest, (change.id, change))
            elif change.id > newest[0][0]:
                heapq.heapreplace(newest, (change.id, change))

        await self._scan(question.connector, question.kinds, visit)
        return [change for _, change in sorted(newest, key=lambda each: each[0], reverse=True)]

    async def facts_at(
        self, connector: str, kinds: Collection[str], at_ms: int
    ) -> tuple[list[PastChange], list[PastChange]]:
        """Return the newest change of each fact at a time; of each without one, the first one afterwards.

        Raises:
            UnavailableError: They could not be read in time.
        """
        before: dict[tuple[str, str], PastChange] = {}
        later: dict[tuple[str, str], PastChange] = {}

        def visit(change: PastChange) -> None:
            if change.kind not in kinds:
                return
            fact = (change.kind, change.subject)
            if change.time_ms <= at_ms:
                known = before.get(fact)
                if known is None or known.id < change.id:
                    before[fact] = change
            else:
                known = later.get(fact)
                if known is None or known.id > change.id:
                    later[fact] = change

        await self._scan(connector, kinds, visit)
        return list(before.values()), [change for fact, change in later.items() if fact not in before]

    async def _scan(self, connector: str, kinds: Collection[str], visit: Visit) -> None:
        """Visit both; what both have, as the topic has it."""
        seen: set[tuple[int, int]] = set()

        def kept(change: PastChange) -> None:
            if change.position is not None:
                if change.position in seen:
                    return  # sent twice, after an outage
                seen.add(change.position)
            visit(change)

        def logged(change: PastChange) -> None:
            if change.position not in seen:
                visit(change)

        await self._keeper.scan(connector, kinds, kept)
        if self._own_log is not None and {*kinds} & {*self._own_log.kinds}:
            await self._own_log.scan(connector, logged)
