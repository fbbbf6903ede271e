"""Messages of the pipes as lines: nothing is lost on the way, and nothing else is taken for a message."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from copycat_executor.pipes import connector_messages, query_messages
from copycat_executor.pipes.connector_messages import (
    FROM_CONNECTORS,
    TO_CONNECTORS,
    ConnectorCall,
    FromConnectors,
    FromTemplate,
    MakeTaskConfigs,
    QuestionCall,
    StopConnector,
    ToConnectors,
    ToTemplate,
)
from copycat_executor.pipes.lines import BadLineError, read_result, to_line
from copycat_executor.pipes.messages import Answer, Ask, Call, PipeMessage
from copycat_executor.pipes.query_messages import TO_QUERIES, FromQueries, QueryCall, RunQuery, ToQueries
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

LEAVES: Mapping[object, st.SearchStrategy[Any]] = {
    str: st.text(max_size=20),
    int: st.integers(-(2**63), 2**63 - 1),
    bool: st.booleans(),
    bytes: st.binary(max_size=50),
    type(None): st.none(),
    ...: st.nothing(),
}
READERS: Mapping[object, Any] = {
    ToConnectors: connector_messages.TO_CONNECTORS,
    FromConnectors: connector_messages.FROM_CONNECTORS,
    ToTemplate: connector_messages.TO_TEMPLATE,
    FromTemplate: connector_messages.FROM_TEMPLATE,
    ToQueries: query_messages.TO_QUERIES,
    FromQueries: query_messages.FROM_QUERIES,
    connector_messages.BeginConnectors: connector_messages.FIRST_LINE,
    query_messages.BeginQueries: query_messages.FIRST_LINE,
}


def members(spoken: object) -> tuple[Any, ...]:
    """Return what a line of a conversation may be: an `Ask` once for each of its calls."""
    union = get_args(spoken) if get_origin(spoken) in (types.UnionType, Union) else (spoken,)
    ask: Any = Ask
    calls = [ask[call] for each in union if get_origin(each) is Ask for call in get_args(get_args(each)[0])]
    return (*calls, *(each for each in union if get_origin(each) not in (Ask, Answer)))


#: What may stand on a line, with the reader of its conversation; answers are read by the type of their call.
ON_LINES = [(reader, each) for union, reader in READERS.items() for each in members(union)]
CALLS: list[type[Call[Any]]] = [
    call
    for union in (connector_messages.AnyConnectorCall, query_messages.AnyQueryCall)
    for call in get_args(union)
]


def answered_by(call: type[Call[Any]]) -> object:
    """Return the type which a call declares for its answer."""
    return get_args(call.__orig_bases__[0])[0]  # type: ignore[attr-defined]  # every generic class has it


def values(wanted: Any) -> st.SearchStrategy[Any]:
    """Draw values of a type that occurs in messages."""
    if wanted in LEAVES:
        return LEAVES[wanted]
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return st.sampled_from(wanted)
    if get_args(wanted):
        return _generic_values(get_origin(wanted), tuple(map(values, get_args(wanted)[:2])), wanted)
    return st.builds(wanted, **{name: values(each) for name, each in _fields(wanted).items()})


def _generic_values(origin: Any, inner: tuple[Any, ...], wanted: Any) -> st.SearchStrategy[Any]:
    if origin in (types.UnionType, Union):
        return st.one_of(*map(values, get_args(wanted)))
    if origin is Mapping:
        return st.dictionaries(*inner, max_size=3)
    if origin is Ask:
        return st.builds(Ask, LEAVES[int], *inner)
    drawn = st.lists(inner[0], max_size=3)
    return drawn if origin is Sequence else drawn.map(tuple)


def _fields(wanted: Any) -> Mapping[str, Any]:
    if is_dataclass(wanted):
        hints = get_type_hints(wanted)
        return {each.name: hints[each.name] for each in fields(wanted)}
    return {each.name: each.type for each in structs.fields(wanted)}


def name_of(member: Any) -> str | None:
    return None if not hasattr(member, "__name__") else f"{member.__name__}{getattr(member, '__args__', '')}"


@pytest.mark.parametrize(("reader", "member"), ON_LINES, ids=name_of)
@settings(max_examples=10)
@given(data=st.data())
def test_every_message_is_read_as_it_was_written(reader: Any, member: Any, data: st.DataObject) -> None:
    message = data.draw(values(member))

    line = to_line(message)

    assert reader.read(line) == message
    assert (line.count(b"\n"), line[-1:]) == (1, b"\n")


@pytest.mark.parametrize("call", CALLS, ids=name_of)
@settings(max_examples=10)
@given(data=st.data())
def test_every_answer_is_read_as_the_type_its_call_declares(call: Any, data: st.DataObject) -> None:
    result = data.draw(values(answered_by(call)))
    asked = data.draw(values(call))

    answer = FROM_CONNECTORS.read(to_line(Answer(7, result)))

    assert isinstance(answer, Answer)
    assert answer.number == 7
    assert read_result(asked, answer.result) == result


@pytest.mark.parametrize(("reader", "member"), ON_LINES, ids=name_of)
@settings(max_examples=2)
@given(data=st.data())
def test_a_field_that_a_message_does_not_have_is_refused(
    reader: Any, member: Any, data: st.DataObject
) -> None:
    described = json.loads(to_line(data.draw(values(member))))
    described["surprise"] = "secret"

    with pytest.raises(BadLineError, match="unknown field `surprise`") as refused:
        reader.read(json.dumps(described).encode() + b"\n")
    assert "secret" not in str(refused.value)


@settings(max_examples=30)
@given(message=values(Ask[RunQuery]), data=st.data())
def test_a_line_that_was_cut_short_is_refused_wherever_that_happened(
    message: PipeMessage, data: st.DataObject
) -> None:
    line = to_line(message)

    with pytest.raises(BadLineError, match="cut short after"):
        TO_QUERIES.read(line[: data.draw(st.integers(0, len(line) - 1))])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"surprise\n", "JSON is malformed: invalid character"),
        (b"\n", "Input data was truncated"),
        (b"[]\n", "Expected `object`, got `array`"),
        (b"{}\n", "missing required field `type`"),
        (b'{"type":"Surprise"}\n', "Invalid value 'Surprise'"),
        (b'{"type":"StopConnector","incarnation":1}\n', "Invalid value 'StopConnector'"),
        (b'{"type":"SetLevel","logger":"a"}\n', "missing required field `level`"),
        (b'{"type":"SetLevel","logger":"a","level":5}\n', "Expected `str`, got `int` - at `$.level`"),
        (b'{"type":"SetLevel","logger":"a","level":"\xff"}\n', "utf-8"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value,
)
def test_what_is_no_message_of_the_conversation_is_refused_with_the_place(line: bytes, reason: str) -> None:
    with pytest.raises(BadLineError) as refused:
        TO_CONNECTORS.read(line)

    assert reason.lower() in str(refused.value).lower()


def test_an_answer_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(BadLineError, match="recursion"):
        FROM_CONNECTORS.read(b'{"type":"Answer","number":1,"result":' + b"[" * 100_000 + b"\n")


@pytest.mark.parametrize(
    ("call", "result"),
    [
        (MakeTaskConfigs(1, 1), [{"batch.size": 5}]),
        (MakeTaskConfigs(1, 1), {"index": "0"}),
        (StopConnector(1), "done"),
    ],
)
def test_a_result_of_another_type_than_its_call_declares_is_refused(call: Any, result: Any) -> None:
    answer = FROM_CONNECTORS.read(to_line(Answer(1, result)))

    assert isinstance(answer, Answer)
    with pytest.raises(BadLineError, match="Expected `"):
        read_result(call, answer.result)


@pytest.mark.parametrize("module", [connector_messages, query_messages], ids=["connectors", "queries"])
def test_every_message_that_is_declared_belongs_to_a_conversation(module: Any) -> None:
    declared = {
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, PipeMessage) and each.__module__ == module.__name__
    }
    spoken = {getattr(member, "__args__", (member,))[0] for _, member in ON_LINES}
    parts = {
        connector_messages.ProposedOffset,
        connector_messages.SinkOffset,
        connector_messages.ProposedMove,
        connector_messages.ProposedEffect,
    }

    assert declared - spoken - parts == {ConnectorCall, QuestionCall, QueryCall} & declared
