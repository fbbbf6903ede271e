"""Laws: what every event-sourced service must obey, proved with Hypothesis.

A service states its subject and gets a test class:

    TestLaws = service_laws(Subject(decider=DECIDER, codec=CODEC, commands=commands(), events=events()))
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from typing import Any, Generic, TypeVar

from copycat_connect.errors import CopycatError
from copycat_eventlog.decider import Decider
from copycat_eventlog.json_text import MalformedError
from copycat_eventlog.log import Codec, Record
from copycat_eventlog.unreadable import decode
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, SearchStrategy

C = TypeVar("C")
E = TypeVar("E")
S = TypeVar("S")

#: How many examples is the business of the profile (`--hypothesis-profile`).
_LAW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@dataclass(frozen=True, slots=True)
class Subject(Generic[C, E, S]):
    """One service under the laws."""

    decider: Decider[C, E, S]
    codec: Codec[E]
    commands: SearchStrategy[C]
    """Draw names from a small pool, so that commands meet each other."""
    events: SearchStrategy[E]
    """Every kind of event, also ones no decision would emit now: other writers use the topic too."""
    golden: Sequence[tuple[Record, E]] = ()
    """Records once written, with what they must mean for ever."""
    partitions: int = 1
    """More than one: the order of records of different keys must not matter."""
    equivalent: Callable[[S, S], bool] = operator.eq
    """Compares the state of the whole log with that of the compacted log (L1)."""


@dataclass(frozen=True, slots=True)
class _Written(Generic[E]):
    """An event of another writer."""

    event: E


@dataclass(frozen=True, slots=True)
class _Run(Generic[S]):
    """A log some commands and other writers led to, with the state the writer saw at its end."""

    records: tuple[Record, ...]
    state: S


class _Prover(Generic[C, E, S]):
    """Runs decisions and folds of one subject."""

    def __init__(self, subject: Subject[C, E, S]) -> None:
        self.subject = subject

    def fold(self, records: Iterable[Record]) -> S:
        """Fold a log as a service does."""
        decider = self.subject.decider
        events = (decode(self.subject.codec, record).event for record in records)
        return reduce(decider.evolve, (event for event in events if event is not None), decider.initial)

    def decide(self, command: C, state: S) -> tuple[E, ...]:
        """Decide; a refusal is no event."""
        try:
            return self.subject.decider.decide(command, state)
        except CopycatError:
            return ()

    def run(self, data: DataObject) -> _Run[S]:
        """Draw a log: commands of ours and events of others."""
        subject = self.subject
        steps = data.draw(
            st.lists(subject.commands | subject.events.map(_Written), max_size=25), label="steps"
        )
        state, records = subject.decider.initial, list[Record]()
        for step in steps:
            events = (step.event,) if isinstance(step, _Written) else self.decide(step, state)
            records += map(subject.codec.encode, events)
            state = reduce(subject.decider.evolve, events, state)
        return _Run(tuple(records), state)


def _removable(records: Sequence[Record]) -> set[int]:
    """Indices of superseded records."""
    newest = {record.key: index for index, record in enumerate(records)}
    return {index for index, record in enumerate(records) if newest[record.key] != index}


def _compacted(records: Sequence[Record], data: DataObject) -> list[Record]:
    """Draw what a cleaner may leave: some superseded records gone, some tombstones with all before them."""
    superseded = sorted(_removable(records))
    gone = set(data.draw(st.sets(st.sampled_from(superseded)), label="cleaned") if superseded else ())
    newest = {record.key: record for record in records}
    forgotten = sorted(key for key, record in newest.items() if record.value is None)
    spent = data.draw(st.sets(st.sampled_from(forgotten)), label="spent tombstones") if forgotten else set()
    return [r for index, r in enumerate(records) if index not in gone and r.key not in spent]


def _interleaved(records: Sequence[Record], data: DataObject) -> list[Record]:
    """Draw another order that keeps the order within each key."""
    queues: dict[bytes, list[Record]] = {}
    for record in records:
        queues.setdefault(record.key, []).append(record)
    keys = data.draw(st.permutations([record.key for record in records]), label="order")
    return [queues[key].pop(0) for key in keys]


def service_laws(  # noqa: C901, one closure a law
    subject: Subject[C, E, S], effort: settings = _LAW
) -> type[Any]:
    """Return a test class that proves L1 to L5 for a service, with so much effort."""
    prover = _Prover(subject)
    decider, codec = subject.decider, subject.codec

    class Laws:
        """The laws L1 to L5 as tests of one service."""

        @effort
        @given(st.data())
        def test_l1_compaction_changes_nothing(self, data: DataObject) -> None:
            run = prover.run(data)
            assert subject.equivalent(prover.fold(run.records), prover.fold(_compacted(run.records, data))), (
                run.records
            )

        @effort
        @given(st.data())
        def test_l2_replay_gives_the_state_the_writer_saw(self, data: DataObject) -> None:
            run = prover.run(data)
            assert prover.fold(run.records) == run.state
            assert prover.fold(run.records) == prover.fold(run.records)
            if subject.partitions > 1:
                assert prover.fold(_interleaved(run.records, data)) == run.state

        @effort
        @given(subject.events)
        def test_l3_an_event_survives_the_round_trip(self, event: E) -> None:
            assert codec.decode(codec.encode(event)) == event

        def test_l3_recorded_events_are_read_for_ever(self) -> None:
            for record, event in subject.golden:
                assert codec.decode(record) == event

        @effort
        @given(st.binary(max_size=40), st.none() | st.binary(max_size=40), st.data())
        def test_l3_decoding_answers_a_fact_or_that_there_is_none(
            self, key: bytes, value: bytes | None, data: DataObject
        ) -> None:
            event = codec.encode(data.draw(subject.events))
            for record in (Record(key, value), Record(event.key, value), Record(event.key, None)):
                with suppress(MalformedError):
                    codec.decode(record)

        @effort
        @given(st.data())
        def test_l4_a_decision_is_pure_and_a_refusal_is_ours(self, data: DataObject) -> None:
            run, command = prover.run(data), data.draw(subject.commands, label="command")
            # `decide` catches only CopycatError: anything else that is raised fails here.
            assert prover.decide(command, run.state) == prover.decide(command, run.state)
            assert run.state == prover.fold(run.records)

        @effort
        @given(st.data())
        def test_l5_the_same_command_twice_appends_once(self, data: DataObject) -> None:
            run, command = prover.run(data), data.draw(subject.commands, label="command")
            once = reduce(decider.evolve, prover.decide(command, run.state), run.state)
            assert prover.decide(command, once) == ()

    return Laws
