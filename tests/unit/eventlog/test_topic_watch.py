"""When a topic counts as gone: another id at once, a missing one once it was missed several times."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from copycat_connect.errors import UnavailableError
from copycat_eventlog.topic_watch import (
    LOOKS_THAT_MISS,
    NO_ID,
    KafkaSight,
    NoTopicIdsError,
    SeenTopic,
    TopicWatch,
)

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
