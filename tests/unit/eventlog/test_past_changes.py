"""Questions about the past, from what is kept and what the log still has."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from copycat_eventlog.past.change import ACT, CONFIG, STATUS, PastChange
from copycat_eventlog.past.history import HistoryQuestion, PastChanges
from copycat_eventlog.past.keeper import MAX_IN_MEMORY, MemoryKeeper, Visit


@dataclass
class FakeLog:
    """What a log still has."""

    changes: list[PastChange]
    kinds: Collection[str] = (CONFIG,)
    asked: int = 0

    async def scan(self, connector: str, visit: Visit) -> None:
        self.asked += 1
        for change in self.changes:
            visit(change)


def change(time: int, after: str | None = None, *, position: int | None = None, **more: str) -> PastChange:
    kind, subject = more.get("kind", CONFIG), more.get("subject", "")
    where = None if position is None else (0, position)
    return PastChange(time, "c", kind, "x", subject, after=after, position=where, place=f"l{time}")


def kept(*changes: PastChange) -> MemoryKeeper:
    keeper = MemoryKeeper()
    for each in changes:
        keeper.append(each)
    return keeper


async def times(past: PastChanges, question: HistoryQuestion) -> list[int]:
    return [each.time_ms for each in await past.page(question)]


async def test_what_the_topic_missed_comes_from_the_log_and_nothing_comes_twice() -> None:
    past = PastChanges(kept(change(1, position=7)), FakeLog([change(2, position=7), change(3, position=8)]))
    assert await times(past, HistoryQuestion("c")) == [3, 1]


async def test_the_log_is_asked_only_for_what_it_has() -> None:
    log = FakeLog([])
    await PastChanges(kept(), log).page(HistoryQuestion("c", {ACT}))
    assert log.asked == 0


async def test_a_page_holds_the_newest_and_begins_after_the_one_before() -> None:
    past = PastChanges(kept(*(change(time) for time in (3, 1, 2, 5, 4))), None)
    first = await past.page(HistoryQuestion("c", limit=2))
    assert [each.time_ms for each in first] == [5, 4]
    assert await times(past, HistoryQuestion("c", limit=2, before_id=first[-1].id)) == [3, 2]
    assert await times(past, HistoryQuestion("c", since_ms=2, until_ms=4)) == [4, 3, 2]


async def test_the_newest_fact_at_a_time_is_in_force_and_a_later_one_tells_what_was_before() -> None:
    past = PastChanges(
        kept(
            change(1, "a"),
            change(3, "b"),
            change(9, "c"),
            change(9, "d", kind=STATUS, subject="0"),
            change(8, "e", kind=STATUS, subject="0"),
        ),
        None,
    )
    found, later = await past.facts_at("c", {CONFIG, STATUS}, 3)
    assert [each.after for each in found] == ["b"]
    assert [each.after for each in later] == ["e"]


async def test_memory_keeps_a_bounded_number() -> None:
    keeper = kept(*(change(time) for time in range(MAX_IN_MEMORY + 5)))
    assert await times(PastChanges(keeper, None), HistoryQuestion("c", until_ms=5)) == [5]
