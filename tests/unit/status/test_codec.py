"""The bytes of Kafka Connect's status topic."""

import pytest
from copycat_connect.cluster import Instance
from copycat_eventlog.json_text import MalformedError
from copycat_eventlog.log import Record
from copycat_status.adapters.codec import StatusCodec
from copycat_status.domain.events import (
    StatusEvent,
    StatusForgotten,
    StatusSet,
    TopicActive,
    TopicForgotten,
)
from copycat_status.domain.status import State, Status

CODEC = StatusCodec()
WORKER = "127.0.0.1:18083"
# Written by Apache Kafka Connect 4.3.1.
RECORDED: list[tuple[str, str | None, StatusEvent]] = [
    (
        "status-connector-probe-file",
        '{"state":"RUNNING","trace":null,"worker_id":"127.0.0.1:18083","generation":22,"version":"4.3.1"}',
        StatusSet(Instance("probe-file"), Status(State.RUNNING, WORKER, 22, version="4.3.1")),
    ),
    (
        "status-task-probe-file-0",
        '{"state":"UNASSIGNED","trace":null,"worker_id":"127.0.0.1:18083","generation":23,"version":null}',
        StatusSet(Instance("probe-file", 0), Status(State.UNASSIGNED, WORKER, 23)),
    ),
    (
        "status-topic-probe-out:connector-probe-file",
        '{"topic":{"name":"probe-out","connector":"probe-file","task":0,"discoverTimestamp":1795269884473}}',
        TopicActive("probe-out", "probe-file", 0, 1795269884473),
    ),
    ("status-connector-probe-file", None, StatusForgotten(Instance("probe-file"))),
    ("status-task-probe-file-0", None, StatusForgotten(Instance("probe-file", 0))),
    ("status-topic-probe-out:connector-probe-file", None, TopicForgotten("probe-out", "probe-file")),
]


def record(key: str, value: str | None) -> Record:
    return Record(key.encode(), None if value is None else value.encode())


@pytest.mark.parametrize(("key", "value", "event"), RECORDED)
def test_what_kafka_connect_wrote_is_read(key: str, value: str | None, event: StatusEvent) -> None:
    assert CODEC.decode(record(key, value)) == event


@pytest.mark.parametrize(("key", "value", "event"), RECORDED)
def test_what_kafka_connect_wrote_is_written_byte_for_byte(
    key: str, value: str | None, event: StatusEvent
) -> None:
    assert CODEC.encode(event) == record(key, value)


def test_a_trace_keeps_its_lines() -> None:
    event = StatusSet(Instance("zürich", 0), Status(State.FAILED, "w", 1, trace="Ärger\n\tat line 1"))

    assert CODEC.decode(CODEC.encode(event)) == event


def test_a_status_without_version_and_with_fields_of_tomorrow_is_read() -> None:
    value = '{"generation":1,"extra":{},"worker_id":"w","state":"PAUSED","trace":null}'

    assert CODEC.decode(record("status-connector-a", value)) == StatusSet(
        Instance("a"), Status(State.PAUSED, "w", 1)
    )


@pytest.mark.parametrize("connector", ["a-0", "a:b", "connector-a", ":connector-x", "x-"])
def test_names_may_look_like_keys(connector: str) -> None:
    status = Status(State.RUNNING, "w", 1)

    for event in (
        StatusSet(Instance(connector), status),
        StatusSet(Instance(connector, 3), status),
        TopicActive("connector-t", connector, 0, 1),
    ):
        assert CODEC.decode(CODEC.encode(event)) == event


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("status-connector-", None),
        ("status-connector-a", "no json"),
        ("status-connector-a", '{"state":"GONE","trace":null,"worker_id":"w","generation":1}'),
        ("status-connector-a", '{"state":"RUNNING","trace":null,"worker_id":"w","generation":"1"}'),
        ("status-connector-a", '{"state":"RUNNING","trace":null,"worker_id":"w","generation":1.0}'),
        ("status-connector-a", '{"state":"RUNNING","trace":7,"worker_id":"w","generation":1}'),
        ("status-task-a", None),
        ("status-task-a-b", None),
        ("status-topic-t", None),
        ("status-topic-:connector-a", None),
        ("status-topic-t:connector-", None),
        ("status-topic-t:connector-a", '{"name":"t"}'),
        ("status-topic-t:connector-a", '{"topic":{"task":"0","discoverTimestamp":1}}'),
        ("foreign", "{}"),
    ],
)
def test_a_malformed_or_foreign_record_states_nothing(key: str, value: str | None) -> None:
    with pytest.raises(MalformedError):
        CODEC.decode(record(key, value))
