"""Source tasks that deliver at most once (K26-52)."""

from __future__ import annotations

import pytest
from copycat_connect.data import SourceRecord
from copycat_executor.pipeline.task.control import Ending, Settlement
from copycat_executor.pipeline.task.stages import StaleTaskError

from tests.unit.pipeline.source_world import Polled, lines, offset
from tests.unit.pipeline.transactional_world import AtMostOnceWorld


@pytest.mark.row("K26-52")
def test_a_batch_is_sent_only_after_its_offset_is_committed() -> None:
    world = AtMostOnceWorld(lines(1, "a"), lines(2, "b"))
    sent: list[int] = []
    settle = world.control.settle

    def watched(settlement: Settlement) -> None:
        sent.append(len(world.sender.records))
        settle(settlement)

    world.control.settle = watched  # type: ignore[method-assign]  # to look when an offset is committed
    world.run()

    assert sent == [0, 1]
    assert world.link.sources == [offset(1), offset(2)]
    assert world.sender.values == [b"a", b"b"]


def test_every_source_partition_of_a_batch_is_committed_first() -> None:
    records = [SourceRecord({"f": name}, {"p": place}, "t", value=name) for place, name in enumerate("xyx")]
    world = AtMostOnceWorld(records)

    world.run()

    assert world.link.sources == [{b'{"f":"x"}': b'{"p":2}', b'{"f":"y"}': b'{"p":1}'}]
    assert world.sender.values == [b"x", b"y", b"x"]


def test_a_batch_whose_offset_belongs_to_a_newer_start_is_not_sent() -> None:
    world = AtMostOnceWorld(lines(1, "a"))
    world.link.control = None

    def stale() -> None:
        world.control.settle(Settlement(1, "stale", stale=True))

    world.control.on_wait = stale
    with pytest.raises(StaleTaskError):
        world.run()

    assert world.sender.values == []


def test_a_batch_whose_offset_is_refused_waits_until_it_is_committed() -> None:
    world = AtMostOnceWorld(lines(1, "a"))
    world.link.error = "away"
    waits = 0

    def heals() -> None:
        nonlocal waits
        waits += 1
        if world.link.error:
            assert world.sender.values == []
        world.link.error = "" if waits >= 2 else "away"

    world.control.on_wait = heals
    world.run()

    assert world.sender.values == [b"a"]
    assert world.link.sources[-1] == offset(1)


def test_a_batch_whose_offset_may_be_committed_is_dropped_with_the_executor() -> None:
    world = AtMostOnceWorld(lines(1, "a"))
    world.link.control = None

    def lost() -> None:
        world.control.stop(Ending.DROP)

    world.control.on_wait = lost
    world.run()

    assert world.sender.values == []


def test_a_task_told_to_end_still_sends_the_batch_whose_offset_it_commits() -> None:
    world = AtMostOnceWorld()

    def ends() -> Polled:
        world.control.stop()
        return lines(1, "a")

    world.task.script = [ends]
    world.run()

    assert world.sender.values == [b"a"]
    assert "flushed" in world.link.events


def test_a_commit_rests_on_what_the_task_was_told_and_then_on_its_own() -> None:
    def asks() -> Polled:
        assert world.task.context.offset({"f": "x"}) == {"p": 0}
        return lines(1, "a")

    def asks_again() -> Polled:
        world.link.stored = offset(7)  # type: ignore[assignment]  # another task's
        assert world.task.context.offset({"f": "x"}) == {"p": 7}
        return lines(2, "b")

    world = AtMostOnceWorld(asks, asks_again)
    world.link.stored = offset(0)  # type: ignore[assignment]  # nothing of it is None
    world.run()

    assert world.link.expected == [offset(0), offset(1)]


def test_a_commit_of_what_the_task_never_asked_for_rests_on_nothing_at_first() -> None:
    world = AtMostOnceWorld(lines(1, "a"), lines(2, "b"))

    world.run()

    assert world.link.expected == [{}, offset(1)]


def test_nothing_committed_is_expected_where_the_task_found_nothing() -> None:
    def asks() -> Polled:
        assert world.task.context.offset({"f": "x"}) is None
        return lines(1, "a")

    world = AtMostOnceWorld(asks)
    world.run()

    assert world.link.expected == [{b'{"f":"x"}': None}]
