"""The assignments topic, a format of our own (`SchedulerCodec`): one key an instance, one whole fact a value.

The key is `["orders"]` for a connector and `["orders",0]` for a task. The value is
`{"worker":"10.0.0.7:9105","generation":57,"partitions":[["t",0]]}`, or a tombstone.
"""

from __future__ import annotations

import json
import logging
from typing import Any, assert_never

from copycat_connect.cluster import Instance, TopicPartition
from copycat_eventlog.json_text import MalformedError
from copycat_eventlog.log import Record
from copycat_eventlog.unreadable import log_ignored, log_taken_for_tombstone

from copycat_scheduler.domain.events import Assigned, SchedulerEvent, Unassigned

log = logging.getLogger(__name__)

TOPIC = "assignment"


class SchedulerCodec:
    """Writes and reads our own format; the rest is ignored with one line in the log."""

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

    def decode(self, record: Record) -> SchedulerEvent | None:
        """Return the event a record states, or None when its key names no instance."""
        try:
            instance = _read_instance(record.key)
        except MalformedError as error:
            log_ignored(log, TOPIC, record.key, error)
            return None
        if record.value is None:
            return Unassigned(instance)
        try:
            return _read_assigned(instance, record.value)
        except MalformedError as error:
            log_taken_for_tombstone(log, TOPIC, record.key, error)
            return Unassigned(instance)


def _read_instance(key: bytes) -> Instance:
    match _parsed(key):
        case [str(connector)]:
            return Instance(connector)
        case [str(connector), int(task)] if type(task) is int and task >= 0:
            return Instance(connector, task)
        case _:
            message = "the key is not a list of a connector and, for a task, its index"
            raise MalformedError(message)


def _read_assigned(instance: Instance, value: bytes) -> Assigned:
    match _parsed(value):
        case {"worker": str(worker), "generation": int(generation), "partitions": list(named)}:
            return Assigned(instance, worker, generation, tuple(map(_read_partition, named)))
        case _:
            message = "the value does not name a worker, a generation and partitions"
            raise MalformedError(message)


def _read_partition(named: Any) -> TopicPartition:
    match named:
        case [str(topic), int(partition)] if type(partition) is int:
            return TopicPartition(topic, partition)
        case _:
            message = "a partition is not a list of a topic and a number"
            raise MalformedError(message)


def _text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        message = "it is not JSON text"
        raise MalformedError(message) from error
