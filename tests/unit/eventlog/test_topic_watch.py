"""A log that is not what it was is noticed: a topic that is gone, records that cannot be read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from copycat_connect.errors import UnavailableError
from copycat_eventlog.forgotten_transactions import still_open
from copycat_eventlog.log import Revision
from copycat_eventlog.open_transactions import warning_of_open_transactions
from copycat_eventlog.overdue import Overdue
from copycat_eventlog.topic_watch import (
    LOOKS_THAT_MISS,
    NO_ID,
    KafkaSight,
    NoTopicIdsError,
    SeenTopic,
    TopicWatch,
)
from copycat_testkit.eventually import eventually
from copycat_testkit.simulated import simulated

FIRST, OTHER, WIDER = SeenTopic((1, 2), 5), SeenTopic((3, 4), 5), SeenTopic((1, 2), 6)
NAMELESS = SeenTopic(NO_ID, 5)
AWAY = UnavailableError("no broker answers")


class Sight:
    """Sees one thing after the other, the last one for ever."""

    def __init__(self, seen: Iterable[SeenTopic | UnavailableError | None]) -> None:
        self._seen = list(seen)

    async def look(self, topic: str) -> SeenTopic | None:
        assert topic == "log"
        found = self._seen.pop(0) if len(self._seen) > 1 else self._seen[0]
        if isinstance(found, UnavailableError):
            raise found
        return found


def unexpected(what: object) -> None:
    pytest.fail(f"said {what}")


async def said_of(*seen: SeenTopic | UnavailableError | None, first: SeenTopic = FIRST) -> list[object]:
    """Return what a watch says once it has seen these, after the first topic."""
    said: list[object] = []
    watch = TopicWatch(
        Sight((first, *seen)), "log", on_gone=said.append, on_partitions=said.append, every=0, again=0
    )
    await watch.begin()
    async with asyncio.timeout(60):
        await watch.run()
        assert not await watch.is_same()
    return said


async def test_a_topic_with_another_id_is_another_one() -> None:
    assert await said_of(FIRST, OTHER) == [True]


async def test_a_missing_topic_is_gone_after_several_looks() -> None:
    assert await said_of(None) == [False]


@pytest.mark.parametrize("between", [FIRST, AWAY])
async def test_a_broker_that_does_not_know_it_yet_takes_nothing_away(
    between: SeenTopic | UnavailableError,
) -> None:
    """It may just have started: only so many looks in a row that miss it count; no answer is no look."""
    missed = [None] * (LOOKS_THAT_MISS - 1)
    assert await said_of(*missed, FIRST, *missed, between, FIRST, WIDER) == [6]


async def test_an_id_that_an_upgrade_gives_the_topic_makes_it_no_other_one() -> None:
    """Topics of brokers before 2.8 have none until all speak the new protocol; brokers differ meanwhile."""
    assert await said_of(NAMELESS, FIRST, NAMELESS, FIRST, OTHER, first=NAMELESS) == [True]
    assert await said_of(NAMELESS, FIRST, WIDER) == [6]


async def test_added_partitions_are_told() -> None:
    assert await said_of(FIRST, WIDER) == [6]


async def test_a_question_waits_for_an_answer() -> None:
    watch = TopicWatch(
        Sight((FIRST, AWAY, None, FIRST)),
        "log",
        on_gone=unexpected,
        on_partitions=unexpected,
        every=0,
        again=0,
    )
    await watch.begin()
    assert await watch.is_same()


async def test_a_question_that_nobody_answers_ends_all_the_same() -> None:
    """Who asks has lost its reader: brokers that refuse to answer must not keep it from beginning anew."""
    watch = TopicWatch(
        Sight((FIRST, AWAY)),
        "log",
        on_gone=unexpected,
        on_partitions=unexpected,
        every=0,
        again=0,
        patience=0.01,
    )
    await watch.begin()
    async with asyncio.timeout(60):
        assert await watch.is_same()


class Starting(KafkaSight):
    """Asks a broker to which the controller has sent nothing yet: it knows neither topics nor brokers."""

    async def _connected(self, topic: str) -> Any:
        return self

    def get_random_node(self) -> int:
        return 1

    async def send(self, _node: int, _request: object) -> Any:
        unknown_topic = 3
        return SimpleNamespace(brokers=[], topics=[(unknown_topic, "log", NO_ID, False, [], 0, {})])


async def test_a_broker_that_knows_of_no_broker_says_nothing_of_topics() -> None:
    with pytest.raises(UnavailableError, match="do not say whether there is a topic 'log'"):
        await Starting({}).look("log")


async def test_brokers_that_tell_no_ids_are_not_asked_again() -> None:
    watch = TopicWatch(
        Sight((NoTopicIdsError("too old"),)), "log", on_gone=unexpected, on_partitions=unexpected, every=0
    )
    await watch.begin()
    async with asyncio.timeout(60):
        await watch.run()
        assert await watch.is_same()


async def test_a_start_waits_for_a_broker_that_answers() -> None:
    """Each look asks another one: a cluster of which one broker is away must not end a start."""
    watch = TopicWatch(
        Sight((AWAY, None, AWAY, FIRST)), "log", on_gone=unexpected, on_partitions=unexpected, again=0
    )
    await watch.begin()
    assert await watch.is_same()


async def test_a_start_does_not_wait_for_ever() -> None:
    sight = Sight((AWAY,))
    watch = TopicWatch(sight, "log", on_gone=unexpected, on_partitions=unexpected, again=0, patience=0.01)
    async with asyncio.timeout(60):
        with pytest.raises(UnavailableError, match="no broker answers"):
            await watch.begin()


async def test_a_topic_that_goes_away_before_it_is_read_ends_the_start() -> None:
    watch = TopicWatch(Sight((None,)), "log", on_gone=unexpected, on_partitions=unexpected, again=0)
    with pytest.raises(UnavailableError, match="'log' went away"):
        await watch.begin()


AFTER = 1.0


class Log:
    """How far it is read, and how far it can be read; None where no broker answers."""

    def __init__(self, read: int, readable: int | None) -> None:
        self.read = read
        self.readable = readable
        self.looks = 0
        self.alarms = 0
        self.overdue = Overdue(lambda: Revision({0: self.read}), self.readable_end, self.alarm, AFTER)

    async def readable_end(self) -> Revision:
        self.looks += 1
        if self.readable is None:
            raise UnavailableError("away")
        return Revision({0: self.readable})

    def alarm(self) -> None:
        self.alarms += 1


@asynccontextmanager
async def watched(log: Log) -> AsyncIterator[None]:
    watching = asyncio.create_task(log.overdue.run())
    try:
        yield
    finally:
        watching.cancel()


@simulated
async def test_records_that_cannot_be_read_are_overdue_once_for_each_append() -> None:
    log = Log(read=3, readable=3)
    async with watched(log):
        log.overdue.committed(Revision({0: 5}))
        await eventually(lambda: log.alarms == 1)
        await asyncio.sleep(5 * AFTER)
        assert log.alarms == 1
        log.overdue.committed(Revision({0: 6}))
        await eventually(lambda: log.alarms == 2)


@simulated
async def test_who_reads_slowly_is_not_overdue() -> None:
    log = Log(read=3, readable=5)
    async with watched(log):
        log.overdue.committed(Revision({0: 5}))
        await eventually(lambda: log.looks == 1)
        await asyncio.sleep(5 * AFTER)
    assert log.alarms == 0


@simulated
async def test_brokers_that_do_not_answer_are_asked_again() -> None:
    log = Log(read=3, readable=None)
    async with watched(log):
        log.overdue.committed(Revision({0: 5}))
        await eventually(lambda: log.looks >= 3)
        assert log.alarms == 0
        log.readable = 3
        await eventually(lambda: log.alarms == 1)


class Looks:
    """Ends as the brokers give them, look by look."""

    def __init__(self, *readable: dict[int, int]) -> None:
        self.readable: Iterator[dict[int, int]] = iter(readable)

    async def end(self) -> Revision:
        return Revision({0: 9, 1: 9, 2: 9})

    async def readable_end(self) -> Revision:
        return Revision(next(self.readable))


async def test_a_log_that_can_be_read_to_its_end_has_nothing_open() -> None:
    assert not await still_open(Looks({0: 9, 1: 12, 2: 9}))


@simulated
async def test_only_what_stands_still_is_open() -> None:
    looks = Looks({0: 9, 1: 4, 2: 5}, {0: 9, 1: 4, 2: 6})
    assert list(await still_open(looks, AFTER)) == [1]


END = Revision({0: 5, 1: 7})


async def wait_for(reached: asyncio.Event, position: Revision) -> None:
    async with warning_of_open_transactions("offsets", lambda: position, END, every=0.01):
        await reached.wait()


async def test_a_fold_that_stands_still_names_where_and_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    reached = asyncio.Event()
    waiting = asyncio.create_task(wait_for(reached, Revision({0: 5, 1: 3})))
    await eventually(lambda: bool(caplog.records))
    reached.set()
    await waiting

    told = str(vars(caplog.records[0]))
    assert "the log cannot be read to its end" in told
    assert "partition 1 from offset 3" in told
    assert "partition 0" not in told
    assert "kafka-transactions.sh abort" in told


async def test_a_fold_that_moves_on_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    moves = iter(range(1000))
    reached = asyncio.Event()

    def moving() -> Revision:
        offset = next(moves)
        if offset > 20:
            reached.set()
        return Revision({0: offset})

    async with warning_of_open_transactions("offsets", moving, END, every=0.001):
        await reached.wait()

    assert not caplog.records
