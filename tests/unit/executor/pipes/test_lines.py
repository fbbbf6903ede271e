"""Messages of the pipes as lines: nothing is lost on the way, and nothing else is taken for a message."""

from __future__ import annotations

import json
from typing import Any

import pytest
from copycat_executor.pipes import connector_messages, query_messages
from copycat_executor.pipes.connector_messages import (
    FROM_CONNECTORS,
    TO_CONNECTORS,
    ConnectorCall,
    MakeTaskConfigs,
    QuestionCall,
    StopConnector,
)
from copycat_executor.pipes.lines import BadLineError, read_result, to_line
from copycat_executor.pipes.messages import Answer, Ask, Message
from copycat_executor.pipes.query_messages import TO_QUERIES, QueryCall, RunQuery
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.executor.pipes.messages import CALLS, ON_LINES, answered_by, values


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
    message: Message, data: st.DataObject
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
        if isinstance(each, type) and issubclass(each, Message) and each.__module__ == module.__name__
    }
    spoken = {getattr(member, "__args__", (member,))[0] for _, member in ON_LINES}
    parts = {
        connector_messages.SourceOffset,
        connector_messages.SinkOffset,
        connector_messages.OffsetMove,
        connector_messages.OffsetEffect,
    }

    assert declared - spoken - parts == {ConnectorCall, QuestionCall, QueryCall} & declared
