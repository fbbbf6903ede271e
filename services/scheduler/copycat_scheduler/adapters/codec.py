"""The assignments topic, a format of our own (`SchedulerCodec`): one key an instance, one whole fact a value.

The key is `["orders"]` for a connector and `["orders",0]` for a task. The value is
`{"worker":"10.0.0.7:9105","generation":57,"partitions":[["t",0]]}`, or a tombstone.
"""

from __future__ import annotations

import json
from typing import Any, Final, assert_never

from copycat_connect.cluster import Instance, TopicPartition
from copycat_eventlog.json_text import (
    INT32_MAX,
    MalformedError,
    read_generation,
    read_json,
    read_object,
    read_text,
)
from copycat_eventlog.log import Record

from copycat_scheduler.domain.events import Assigned, SchedulerEvent, Unassigned


class SchedulerCodec:
    """Writes and reads our own format; a malformed value leaves its instance without a worker."""

    forgets_unreadable: Final = True

    def encode(self, event: SchedulerEvent) -> Record:
        """Return the record that states the event."""
        key = _text([part for part in event.instance if part is not None])
        match event:
            case Unassigned():
                return Record(key, None)
            case Assigned(_, worker_id, generation, partitions):
                value = {"worker": worker_id, "generation": generation, "partitions": partitions}
                return Record(key, _text(value))
            case _:
                assert_never(event)

    def decode(self, record: Record) -> SchedulerEvent:
        """Return the event a record states.

        Raises:
            MalformedError: Its key names no instance, or its value says nothing about one.
        """
        instance = _read_instance(record.key)
        return Unassigned(instance) if record.value is None else _read_assigned(instance, record.value)


def _read_instance(key: bytes) -> Instance:
    match read_json(key):
        case [str(connector)]:
            return Instance(connector)
        case [str(connector), int(task)] if type(task) is int and 0 <= task <= INT32_MAX:
            return Instance(connector, task)
        case _:
            raise MalformedError("the key is not a list of a connector and, for a task, its index")


def _read_assigned(instance: Instance, value: bytes) -> Assigned:
    found = read_object(value)
    named = found.get("partitions")
    if not isinstance(named, list):
        raise MalformedError("field 'partitions' is not a list")
    generation, partitions = read_generation(found, "generation"), tuple(map(_read_partition, named))
    return Assigned(instance, read_text(found, "worker"), generation, partitions)


def _read_partition(named: Any) -> TopicPartition:
    match named:
        case [str(topic), int(partition)] if type(partition) is int and 0 <= partition <= INT32_MAX:
            return TopicPartition(topic, partition)
        case _:
            raise MalformedError("a partition is not a list of a topic and a number")


def _text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
