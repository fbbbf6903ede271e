"""Who may move which offset."""

from functools import reduce

import pytest
from copycat_connect.errors import StaleGenerationError
from copycat_offset.domain.commands import AlterSourceOffsets, CommitSourceOffsets
from copycat_offset.domain.decide import decide
from copycat_offset.domain.errors import OffsetFormatError
from copycat_offset.domain.events import SourceOffsetCommitted, SourceOffsetForgotten
from copycat_offset.domain.evolve import evolve
from copycat_offset.domain.state import OffsetState
from copycat_offset.domain.views import all_offsets, offsets_of

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
