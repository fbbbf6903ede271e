"""Kafka's connectors for tests: the lines its system tests read, and the failures they order."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from copycat_connect.data import (
    INT32_SCHEMA,
    INT64_SCHEMA,
    SinkBatch,
    SinkRecord,
    SourceRecord,
    Struct,
    TopicPartition,
)
from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.plugin import SourceTask
from copycat_plugins.connectors.mock_sink import MockSinkTask
from copycat_plugins.connectors.mock_source import MockSourceConnector, MockSourceTask
from copycat_plugins.connectors.pace import RecordPace
from copycat_plugins.connectors.schema_source import SCHEMA_2, SchemaSourceTask
from copycat_plugins.connectors.verifiable_sink import VerifiableSinkTask
from copycat_plugins.connectors.verifiable_source import VerifiableSourceConnector, VerifiableSourceTask
from copycat_testkit.conformance import FakeConnectorContext, FakeSinkContext, FakeSourceContext

SOURCE = {"name": "v", "topic": "t", "throughput": "-1"}
STRUCTS = {"topic": "t", "throughput": "-1", "num.messages": "2", "multiple.schema": "true", "id": "3"}


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Any:
    return partial(printed, capsys)


def polled(task: SourceTask) -> list[SourceRecord]:
    return list(task.poll() or ())


def verifiable_source(**more: str) -> VerifiableSourceTask:
    config = VerifiableSourceConnector()
    config.start({**SOURCE, **more})
    task = VerifiableSourceTask()
    context = FakeSourceContext(config.task_configs(2)[1])
    context.store({"id": 1}, {"seqno": 6})
    task.initialize(context)
    task.start(context.configs())
    return task


def test_a_verifiable_source_prints_what_it_sends_and_what_is_safe(lines: Any) -> None:
    task = verifiable_source()

    (record,) = polled(task)
    task.commit_record(record, None)

    assert (record.topic, record.key, record.value) == ("t", 1, 7)
    assert (record.key_schema, record.value_schema) == (INT32_SCHEMA, INT64_SCHEMA)
    assert (record.source_partition, record.source_offset) == ({"id": 1}, {"seqno": 7})
    sent, safe = lines()
    assert sent.startswith('{"task":1,"seqno":7,"time_ms":')
    assert sent.endswith(',"name":"v","topic":"t"}')
    assert list(json.loads(safe)) == ["committed", "task", "seqno", "time_ms", "name", "topic"]
    assert json.loads(safe)["committed"] is True
    assert json.loads(safe)["seqno"] == 7


def test_complete_record_data_is_what_is_printed(lines: Any) -> None:
    (record,) = polled(verifiable_source(**{"complete.record.data": "true"}))
    value = record.value
    assert isinstance(value, Struct)
    value.validate()
    printed = json.loads(lines()[0])
    assert {field.name: value.get(field) for field in value.schema.fields} == printed


@pytest.mark.parametrize(
    ("partition", "offset"),
    [
        (None, {"seqno": 1}),
        ({}, {"seqno": 1}),
        ({"id": "0"}, {"seqno": 1}),
        ({"id": -1}, {"seqno": 1}),
        ({"id": 0, "more": 1}, {"seqno": 1}),
        ({"id": 0}, {}),
        ({"id": 0}, {"seqno": True}),
        ({"id": 0}, {"seqno": -1}),
        ({"id": 0}, {"seqno": 1.5}),
    ],
)
def test_offsets_of_another_shape_are_refused(partition: Any, offset: Any) -> None:
    with pytest.raises(ConnectError, match="such as"):
        VerifiableSourceConnector().alter_offsets({}, [(partition, offset)])


def test_offsets_that_fit_are_taken() -> None:
    assert VerifiableSourceConnector().alter_offsets({}, [({"id": 2}, {"seqno": 0}), ({"id": 0}, None)])


@pytest.mark.parametrize("missing", ["topic", "throughput"])
def test_a_missing_key_is_named(missing: str) -> None:
    config = {key: value for key, value in SOURCE.items() if key != missing}
    with pytest.raises(ConfigError, match=f'"{missing}"'):
        VerifiableSourceConnector().start(config)


def test_a_verifiable_sink_prints_what_comes_and_what_is_flushed(lines: Any) -> None:
    task = VerifiableSinkTask()
    task.start({"name": "s", "id": "1"})
    first, second = SinkRecord("t", 0, 40, 3, 7), SinkRecord("t", 1, 9, 3, b"\x00")

    task.put(SinkBatch.of([first, second]))
    assert [json.loads(line)["seqno"] for line in lines()] == [7, "AA=="]

    task.flush({TopicPartition("t", 0): 41})
    (flushed,) = lines()
    assert list(json.loads(flushed)) == [
        *("task", "seqno", "offset", "time_ms", "name", "topic", "sinkTask", "flushed")
    ]
    known = {"task": 3, "seqno": 7, "offset": 40, "name": "s", "topic": "t", "sinkTask": 1, "flushed": True}
    assert {key: value for key, value in json.loads(flushed).items() if key != "time_ms"} == known

    task.flush({TopicPartition("t", 0): 41})
    assert lines() == []


def test_a_value_without_json_is_a_line_that_is_none(lines: Any) -> None:
    task = VerifiableSinkTask()
    task.start({"name": "s", "id": "0"})
    task.put(SinkBatch.of([SinkRecord("t", 0, 0, None, Struct(SCHEMA_2))]))
    assert lines() == ["Bad data can't be written as json: no JSON for a Struct"]


def test_a_schema_source_takes_two_schemas_in_turn_and_ends(lines: Any) -> None:
    task = SchemaSourceTask()
    context = FakeSourceContext(STRUCTS)
    context.stopping.set()
    task.initialize(context)
    task.start(STRUCTS)

    first, second = [record for _ in range(2) for record in polled(task)]

    assert [record.value.schema.version for record in (first, second)] == [1, 2]
    assert (first.key, first.kafka_partition, second.value.get("string")) == ("key", 3, "def")
    assert lines() == ['{"task": 3, "seqno": 0}', '{"task": 3, "seqno": 1}']
    assert task.poll() is None


def test_a_task_fails_on_order_and_not_before() -> None:
    source, sink = MockSourceTask(), MockSinkTask()
    order = {"mock_mode": "task-failure", "delay_ms": "60000"}
    for task, context in ((source, FakeSourceContext({})), (sink, FakeSinkContext({}))):
        context.stopping.set()
        task.initialize(context)  # type: ignore[arg-type]
        task.start(order)
    source.poll()
    sink.put(SinkBatch.of([]))
    assert sink.context.timeout_millis == 250  # type: ignore[attr-defined]

    for task in (source, sink):
        task.start({**order, "delay_ms": "0"})
    with pytest.raises(ConnectError, match="mock_mode=task-failure, delay_ms=0"):
        source.poll()
    with pytest.raises(ConnectError, match="mock_mode=task-failure, delay_ms=0"):
        sink.put(SinkBatch.of([]))


def test_a_connector_fails_on_order_but_not_once_it_is_stopped() -> None:
    stopped, failing = FakeConnectorContext(), FakeConnectorContext()
    for context, delay in ((stopped, "600000"), (failing, "1")):
        connector = MockSourceConnector()
        connector.initialize(context)
        connector.start({"mock_mode": "connector-failure", "delay_ms": delay})
        assert len(connector.task_configs(3)) == 1
        if context is failing:
            assert context.failed.wait(60)
        connector.stop()
    assert [str(error) for error in failing.errors] == [
        "Failed on order: mock_mode=connector-failure, delay_ms=1"
    ]
    assert stopped.errors == []


def test_a_mode_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="mock_mode"):
        MockSourceConnector().start({"mock_mode": "task-failures"})


class Clock:
    """Goes on when somebody waits."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


def test_the_pace_is_kept_and_a_pause_is_not_made_good() -> None:
    clock = Clock()
    pace = RecordPace(50, clock)
    given = 0
    while clock.now < 110:
        given += pace.take(10, clock.wait)
    assert given == pytest.approx(500, abs=2)

    clock.now += 3600
    burst = 0
    while due := pace.take(10, lambda _: None):
        burst += due
    assert burst <= 51


@pytest.mark.parametrize(("rate", "due"), [(-1, 10), (0, 0)])
def test_a_pace_can_be_without_a_limit_or_without_records(rate: int, due: int) -> None:
    waits: list[float] = []
    assert RecordPace(rate).take(10, waits.append) == due
    assert waits == ([1.0] if not due else [])
