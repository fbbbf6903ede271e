"""Who may move which offset.

What a change of a sink's positions would do, and how a change is remembered.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

import pytest
from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import StaleGenerationError
from copycat_offset.domain.changes import MAX_REMEMBERED_BYTES, OffsetsChange, SinkMove, SourceMove
from copycat_offset.domain.commands import AlterSourceOffsets, CommitSourceOffsets, RememberChange
from copycat_offset.domain.decide import decide
from copycat_offset.domain.errors import OffsetFormatError
from copycat_offset.domain.events import (
    ChangeForgotten,
    ChangeRemembered,
    SourceOffsetCommitted,
    SourceOffsetForgotten,
)
from copycat_offset.domain.evolve import evolve
from copycat_offset.domain.moves import (
    Bounds,
    SinkEffect,
    Unplaced,
    effects,
    moves_to_time,
    named_moves,
)
from copycat_offset.domain.state import OffsetState
from copycat_offset.domain.views import all_offsets, last_change, offsets_of

P, Q = b'{"p":1}', b'{"q":1}'


def _state(**offsets: dict[bytes, bytes]) -> OffsetState:
    events = [SourceOffsetCommitted(name, p, o) for name, each in offsets.items() for p, o in each.items()]
    return reduce(evolve, events, OffsetState())


def _commit(
    offsets: dict[bytes, bytes | None], generation: int = 3, newest: int | None = 3
) -> CommitSourceOffsets:
    return CommitSourceOffsets("c", 0, generation, newest, offsets)


def test_a_commit_writes_what_moved() -> None:
    assert decide(_commit({P: b"{}", Q: b'{"n":2}'}), _state(c={P: b"{}"})) == (
        SourceOffsetCommitted("c", Q, b'{"n":2}'),
    )


@pytest.mark.parametrize("none", [None, b"null"])
def test_no_offset_forgets_the_partition(none: bytes | None) -> None:
    assert decide(_commit({P: none, Q: none}), _state(c={P: b"{}"})) == (SourceOffsetForgotten("c", P),)


@pytest.mark.parametrize("newest", [None, 2, 3])
def test_the_newest_generation_may_commit(newest: int | None) -> None:
    assert decide(_commit({P: b"{}"}, newest=newest), OffsetState())


def test_an_older_generation_may_not_even_when_nothing_moved() -> None:
    with pytest.raises(StaleGenerationError):
        decide(_commit({}, newest=4), OffsetState())


def test_one_wrong_text_refuses_the_whole_command() -> None:
    with pytest.raises(OffsetFormatError):
        decide(AlterSourceOffsets("c", {P: b"{}", Q: b'{"a":[]}'}), OffsetState())


def test_a_connector_without_offsets_leaves_no_trace() -> None:
    assert evolve(_state(c={P: b"{}"}), SourceOffsetForgotten("c", P)) == OffsetState()
    assert evolve(OffsetState(), SourceOffsetForgotten("c", P)) == OffsetState()


def test_the_null_partition_can_be_read_but_is_not_listed() -> None:
    state = _state(c={P: b"{}", b"null": b'{"n":1}'})
    assert list(offsets_of(state, "c", [b"null", Q])) == [(b"null", b'{"n":1}'), (Q, None)]
    assert list(all_offsets(state, "c")) == [(P, b"{}")]


P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
CHANGE = OffsetsChange("c", 1000, reset=False, source=(SourceMove(b'{"p":1}', b'{"n":1}', None),))


def effect(
    before: int | None,
    after: int | None,
    unplaced: Unplaced = Unplaced.BEGINNING,
    bounds: Bounds | None = None,
) -> SinkEffect:
    """Return what one move does in a partition that holds the offsets 10 to 99."""
    [found] = effects(
        [SinkMove("t", 0, before, after)], {P0: bounds or Bounds(10, 100)}, unplaced, timed=False
    )
    return found


@pytest.mark.parametrize(
    ("before", "after", "unplaced", "repeated", "skipped"),
    [
        (100, 40, Unplaced.BEGINNING, 60, 0),
        (40, 100, Unplaced.BEGINNING, 0, 60),
        (40, 40, Unplaced.BEGINNING, 0, 0),
        # What is no longer there cannot be read again.
        (100, 0, Unplaced.BEGINNING, 90, 0),
        (100, None, Unplaced.BEGINNING, 90, 0),
        (40, None, Unplaced.END, 0, 60),
        (None, 40, Unplaced.BEGINNING, 0, 30),
        (40, None, Unplaced.UNKNOWN, None, None),
        # A position beyond the end is no position: the consumer begins anew.
        (100, 500, Unplaced.BEGINNING, 90, 0),
        (40, 500, Unplaced.END, 0, 60),
        (40, 500, Unplaced.UNKNOWN, None, None),
    ],
)
def test_what_is_repeated_or_skipped_lies_between_where_the_sink_would_begin_and_begins_now(
    before: int | None, after: int | None, unplaced: Unplaced, repeated: int | None, skipped: int | None
) -> None:
    found = effect(before, after, unplaced)
    assert (found.repeated, found.skipped) == (repeated, skipped)


@pytest.mark.parametrize(
    ("after", "outside"), [(10, False), (100, False), (9, True), (101, True), (None, False)]
)
def test_a_position_that_the_partition_has_not_is_told(after: int | None, outside: bool) -> None:
    assert effect(40, after).out_of_range is outside


def test_of_a_partition_that_is_gone_nothing_can_be_told() -> None:
    [found] = effects([SinkMove("t", 0, 5, 3)], {}, Unplaced.BEGINNING, timed=False)
    assert found == SinkEffect(SinkMove("t", 0, 5, 3), None, out_of_range=True)


def test_a_change_that_names_its_partitions_moves_no_others() -> None:
    assert named_moves({P0: 7, P1: 8}, {P0: 3}, []) == [SinkMove("t", 0, 7, 3)]
    assert named_moves({P0: 7}, {}, [P0, P1]) == [SinkMove("t", 0, 7, None), SinkMove("t", 1, None, None)]


@pytest.mark.parametrize(
    ("bounds", "only_back", "after"),
    [
        (Bounds(10, 100, 60), False, 60),
        (Bounds(10, 100, 60), True, 50),
        (Bounds(10, 100, 20), True, 20),
        (Bounds(10, 100, None), False, 100),
        (Bounds(10, 100, None), True, 50),
        (None, False, 50),
    ],
)
def test_a_position_moves_to_the_first_record_of_a_time(
    bounds: Bounds | None, only_back: bool, after: int
) -> None:
    there = {} if bounds is None else {P0: bounds}
    assert moves_to_time({P0: 50}, there, only_back=only_back) == [SinkMove("t", 0, 50, after)]


@pytest.mark.parametrize(
    ("at", "since", "older"), [(None, True, False), (10, False, True), (60, False, False)]
)
def test_a_time_outside_of_what_a_partition_holds_is_told(at: int | None, since: bool, older: bool) -> None:
    bounds = {P0: Bounds(10, 100, at)}
    moves = moves_to_time({P0: 50}, bounds, only_back=False)
    [found] = effects(moves, bounds, Unplaced.BEGINNING, timed=True)
    assert (found.nothing_since, found.nothing_older) == (since, older)


def test_effects_are_in_the_order_of_topics_and_partitions() -> None:
    moves = [SinkMove("t", 1, 1, 1), SinkMove("t", 0, 1, 1), SinkMove("a", 5, 1, 1)]
    found = effects(moves, {}, Unplaced.BEGINNING, timed=False)
    assert [(each.move.topic, each.move.partition) for each in found] == [("a", 5), ("t", 0), ("t", 1)]


def test_the_last_change_replaces_the_one_before_and_the_same_again_is_free() -> None:
    state = evolve(OffsetState(), ChangeRemembered(CHANGE))
    assert last_change(state, "c") == CHANGE
    assert decide(RememberChange(CHANGE), state) == ()
    undone = replace(CHANGE, undone_at=2000)
    assert decide(RememberChange(undone), state) == (ChangeRemembered(undone),)


def test_a_change_is_no_offset_and_leaves_no_trace_once_forgotten() -> None:
    state = evolve(evolve(OffsetState(), ChangeRemembered(CHANGE)), SourceOffsetCommitted("c", b"{}", b"{}"))
    assert list(all_offsets(state, "c")) == [(b"{}", b"{}")]
    assert last_change(evolve(state, ChangeForgotten("c")), "c") is None
    assert evolve(evolve(OffsetState(), ChangeRemembered(CHANGE)), ChangeForgotten("c")) == OffsetState()


def test_a_change_stays_while_offsets_come_and_go() -> None:
    state = evolve(OffsetState(), ChangeRemembered(CHANGE))
    for event in (SourceOffsetCommitted("c", b"{}", b"{}"), SourceOffsetForgotten("c", b"{}")):
        state = evolve(state, event)
        assert last_change(state, "c") == CHANGE


def test_a_change_too_large_for_a_record_is_remembered_without_its_moves() -> None:
    text = b'{"p":"%b"}' % (b"x" * (MAX_REMEMBERED_BYTES // 2))
    [event] = decide(RememberChange(replace(CHANGE, source=(SourceMove(text, None, b"{}"),))), OffsetState())
    assert event == ChangeRemembered(replace(CHANGE, source=(), too_large=True))


@pytest.mark.parametrize("offset", [b"[]", b'{"a":[]}', b"{"])
def test_only_maps_are_remembered_as_offsets(offset: bytes) -> None:
    for move in (SourceMove(b"{}", offset, None), SourceMove(b"{}", None, offset)):
        with pytest.raises(OffsetFormatError):
            decide(RememberChange(replace(CHANGE, source=(move,))), OffsetState())
