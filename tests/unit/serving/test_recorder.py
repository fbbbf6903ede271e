"""What a service appends becomes changes, with who asked for them; what others append does not.

Messages of a state are made once for as long as their facts stand.
"""

from __future__ import annotations

from dataclasses import dataclass

from copycat_config.adapters.event_sourced import event_sourced
from copycat_config.adapters.telling import TELLING
from copycat_config.domain.commands import PutConnector, SetTargetState
from copycat_connect.cluster import TargetState
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_eventlog.past.change import CONFIG, TARGET_STATE, PastChange, read_change, write_change
from copycat_eventlog.past.history import HistoryQuestion, PastChanges
from copycat_eventlog.past.keeper import MemoryKeeper
from copycat_serving.history import Recorder
from copycat_serving.reads import Rendering
from copycat_telemetry.changes import USER, Asker, asking

ANN = Asker(USER, "ann", "127.0.0.1")


def recorder(keeper: MemoryKeeper, *times: int) -> Recorder:  # type: ignore[type-arg] # of config's events
    ticks = iter(times)
    return Recorder(keeper, TELLING, lambda: next(ticks) * 1_000_000)


async def test_a_change_is_kept_with_who_asked_and_what_was_before() -> None:
    keeper = MemoryKeeper()
    events = event_sourced(MemoryLog())
    events.observe(recorder(keeper, 1, 2, 3))
    await events.start()
    with asking(ANN):
        await events.execute(PutConnector("c", {"a": "1"}))
        await events.execute(PutConnector("c", {"a": "2"}))
        await events.execute(SetTargetState("c", TargetState.PAUSED))
    newest = await PastChanges(keeper, None).page(HistoryQuestion("c"))
    assert [(each.kind, each.what, each.before, each.after) for each in newest] == [
        (TARGET_STATE, "target state set", '"STARTED"', '"PAUSED"'),
        (CONFIG, "configured", '{"a":"1"}', '{"a":"2"}'),
        (CONFIG, "created", None, '{"a":"1"}'),
    ]
    assert {each.by for each in newest} == {ANN}
    assert [each.position for each in newest] == [(0, 2), (0, 1), (0, 0)]
    await events.stop()


async def test_what_another_instance_appended_is_not_kept_twice() -> None:
    topic, keeper = MemoryTopic(), MemoryKeeper()
    leader, standby = (event_sourced(MemoryLog(topic)) for _ in range(2))
    for each in (leader, standby):
        each.observe(recorder(keeper, 1, 2))
    await leader.start()
    await standby.start()
    await leader.execute(PutConnector("c", {"a": "1"}))
    assert len(await PastChanges(keeper, None).page(HistoryQuestion("c"))) == 1
    await leader.stop()
    await standby.stop()


async def test_a_restarted_service_keeps_nothing_of_what_it_folds() -> None:
    topic, keeper = MemoryTopic(), MemoryKeeper()
    first = event_sourced(MemoryLog(topic))
    await first.start()
    await first.execute(PutConnector("c", {"a": "1"}))
    await first.stop()
    second = event_sourced(MemoryLog(topic))
    second.observe(recorder(keeper))
    await second.start()
    assert await PastChanges(keeper, None).page(HistoryQuestion("c")) == []
    await second.stop()


def test_a_change_is_read_as_it_was_written() -> None:
    change = PastChange(
        time_ms=5, connector="c", kind=CONFIG, what="created", after='{"a":"1"}', before_known=True,
        by=ANN, reason="r", trace_id="t", position=(0, 3),
    )  # fmt: skip
    assert read_change(write_change(change), "") == change


def test_a_fact_that_is_too_large_is_left_out_and_says_so() -> None:
    change = PastChange(5, "c", CONFIG, "created", after='"' + "x" * 300_000 + '"')
    kept = read_change(write_change(change), "")
    assert kept.after is None
    assert kept.omitted


@dataclass(frozen=True)
class Facts:
    """What is known under a name; equal facts need not be the same."""

    text: str | None


def made(name: str, facts: Facts) -> list[str] | None:
    return None if facts.text is None else [name, facts.text]


def test_messages_are_listed_by_name_without_those_that_show_nothing() -> None:
    rendering = Rendering(made)

    assert rendering.messages({"b": Facts("2"), "hidden": Facts(None), "a": Facts("1")}) == [
        ["a", "1"],
        ["b", "2"],
    ]


def test_only_what_changed_is_made_again() -> None:
    rendering, kept = Rendering(made), Facts("1")
    before = rendering.messages({"a": kept, "b": Facts("2"), "c": Facts("3")})

    after = rendering.messages({"a": kept, "b": Facts("new")})

    assert after == [["a", "1"], ["b", "new"]]
    assert after[0] is before[0]


def test_a_name_that_comes_back_is_made_anew() -> None:
    rendering = Rendering(made)
    rendering.messages({"a": Facts("1")})
    rendering.messages({})

    assert rendering.messages({"a": Facts("2")}) == [["a", "2"]]
