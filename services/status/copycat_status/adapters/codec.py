"""Events as records of Kafka Connect's status topic, and back (`StatusCodec`)."""

from __future__ import annotations

import re
from typing import Any, Final, assert_never

from copycat_connect.cluster import Instance
from copycat_eventlog.json_text import (
    MalformedError,
    read_generation,
    read_integer,
    read_key,
    read_object,
    read_optional_text,
    read_task_key,
    read_text,
    write_json,
)
from copycat_eventlog.log import Record

from copycat_status.domain.events import StatusEvent, StatusForgotten, StatusSet, TopicActive, TopicForgotten
from copycat_status.domain.status import State, Status

CONNECTOR = "status-connector-"
TASK = "status-task-"
TOPIC = "status-topic-"
SEPARATOR = ":connector-"
# No topic has a colon, so the first one ends it; Kafka skips as many characters as its separator has, unseen.
TOPIC_KEY = re.compile(rf"(?P<topic>[^:]+):.{{{len(SEPARATOR) - 1}}}(?P<connector>.+)", re.DOTALL)


class StatusCodec:
    """Writes and reads what Kafka Connect does; what it passes over changes nothing.

    When a status began is the timestamp of its record, and so is known of Kafka Connect's, too.
    """

    forgets_unreadable: Final = False

    def encode(self, event: StatusEvent) -> Record:
        """Return the record that states the event."""
        key, value = _write(event)
        since_ms = event.status.since_ms if isinstance(event, StatusSet) else None
        return Record(key.encode(), value, since_ms)

    def decode(self, record: Record) -> StatusEvent:
        """Return the event a record states.

        Raises:
            MalformedError: It is of an unknown kind, or not what its kind is.
        """
        key = read_key(record.key)
        if key.startswith(TOPIC):
            return _read_topic(key, record.value)
        return _read_status(_read_instance(key), record)


def _write(event: StatusEvent) -> tuple[str, bytes | None]:
    match event:
        case StatusSet(instance, status):
            return instance_key(instance), _status_value(status)
        case StatusForgotten(instance):
            return instance_key(instance), None
        case TopicActive(topic, connector):
            return topic_key(topic, connector), _topic_value(event)
        case TopicForgotten(topic, connector):
            return topic_key(topic, connector), None
        case _:
            assert_never(event)


def instance_key(instance: Instance) -> str:
    """Return the key of the records about a connector or task."""
    if instance.task is None:
        return f"{CONNECTOR}{instance.connector}"
    return f"{TASK}{instance.connector}-{instance.task}"


def topic_key(topic: str, connector: str) -> str:
    """Return the key of the records about a topic that a connector uses."""
    return f"{TOPIC}{topic}{SEPARATOR}{connector}"


def _status_value(status: Status) -> bytes:
    return write_json(
        {
            "state": status.state.value,
            "trace": status.trace,
            "worker_id": status.worker_id,
            "generation": status.generation,
            "version": status.version,
        }
    )


def _topic_value(event: TopicActive) -> bytes:
    fields: dict[str, Any] = {
        "name": event.topic,
        "connector": event.connector,
        "task": event.task,
        "discoverTimestamp": event.discovered_ms,
    }
    return write_json({"topic": fields})


def _read_instance(key: str) -> Instance:
    if key.startswith(CONNECTOR):
        connector = key.removeprefix(CONNECTOR)
        if not connector:
            raise MalformedError("the key names no connector")
        return Instance(connector)
    if not key.startswith(TASK):
        raise MalformedError("no such kind of record")
    connector, task = read_task_key(key.removeprefix(TASK))
    if not connector:
        raise MalformedError("the key names no connector")
    return Instance(connector, task)


def _read_status(instance: Instance, record: Record) -> StatusSet | StatusForgotten:
    if record.value is None:
        return StatusForgotten(instance)
    found = read_object(record.value)
    stated = read_text(found, "state")
    if stated not in State.__members__:
        raise MalformedError(f"{stated[:100]!r} is not a state")
    status = Status(
        state=State(stated),
        worker_id=read_text(found, "worker_id"),
        generation=read_generation(found, "generation"),
        trace=read_optional_text(found, "trace"),
        version=read_optional_text(found, "version"),
        since_ms=record.timestamp_ms,
    )
    return StatusSet(instance, status)


def _read_topic(key: str, value: bytes | None) -> TopicActive | TopicForgotten:
    names = TOPIC_KEY.fullmatch(key.removeprefix(TOPIC))
    if names is None:
        raise MalformedError("the key does not name a topic and a connector")
    if value is None:
        return TopicForgotten(names["topic"], names["connector"])
    found = read_object(value).get("topic")
    if not isinstance(found, dict):
        raise MalformedError("field 'topic' is not a map")
    task, discovered_ms = read_integer(found, "task"), read_integer(found, "discoverTimestamp")
    return TopicActive(names["topic"], names["connector"], task, discovered_ms)
