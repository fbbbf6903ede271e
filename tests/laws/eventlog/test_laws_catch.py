"""The laws hold for a lawful service and catch each kind of lawless one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from copycat_eventlog.decider import Decider
from copycat_eventlog.log import Record
from copycat_testkit.laws import Subject, service_laws
from copycat_testkit.puts import DECIDER, EMPTY, PutCodec, PutKey, State, WasPut, decide, evolve
from hypothesis import Phase, settings
from hypothesis import strategies as st

KEYS, VALUES = st.sampled_from("abc"), st.none() | st.sampled_from(["1", "2", "bad"])
LAWFUL: Subject[PutKey, WasPut, State] = Subject(
    decider=DECIDER,
    codec=PutCodec(),
    commands=st.builds(PutKey, KEYS, VALUES),
    events=st.builds(WasPut, KEYS, VALUES),
    golden=((Record(b"a", b"1"), WasPut("a", "1")), (Record(b"a", None), WasPut("a", None))),
    partitions=2,
)

TestLawful = service_laws(LAWFUL)

#: Enough to catch each of these; the smallest example of it interests nobody.
CAUGHT = settings(max_examples=100, deadline=None, database=None, phases=(Phase.generate,))


def counting(state: State, event: WasPut) -> State:
    """Break L1: an event that counts."""
    return evolve(state, event).set("count", str(int(state.get("count", "0")) + 1))


def forgetful(command: PutKey, state: State) -> tuple[WasPut, ...]:
    """Break L5: always something to do."""
    return (WasPut(command.key, command.value),)


def crashing(command: PutKey, state: State) -> tuple[WasPut, ...]:
    """Break L4: a refusal of a foreign kind."""
    raise KeyError(command.key)


class StrictCodec(PutCodec):
    """Break L3: raise anything on what it cannot read."""

    def decode(self, record: Record) -> WasPut:
        return WasPut(record.key.decode(), None if record.value is None else record.value.decode())


@contextmanager
def broken() -> Iterator[None]:
    with pytest.raises((AssertionError, KeyError, UnicodeDecodeError, ExceptionGroup)):
        yield


@pytest.mark.parametrize(
    ("decider", "law"),
    [
        (Decider(EMPTY, decide, counting), "test_l1_compaction_changes_nothing"),
        (Decider(EMPTY, forgetful, evolve), "test_l5_the_same_command_twice_appends_once"),
        (Decider(EMPTY, crashing, evolve), "test_l4_a_decision_is_pure_and_a_refusal_is_ours"),
    ],
)
def test_a_lawless_decider_is_caught(decider: Decider[PutKey, WasPut, State], law: str) -> None:
    laws = service_laws(replace(LAWFUL, decider=decider), CAUGHT)()
    prove: Callable[[], None] = getattr(laws, law)
    with broken():
        prove()


def test_a_raising_codec_is_caught() -> None:
    with broken():
        service_laws(
            replace(LAWFUL, codec=StrictCodec()), CAUGHT
        )().test_l3_decoding_answers_a_fact_or_that_there_is_none()
