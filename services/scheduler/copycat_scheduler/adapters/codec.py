"""The assignments topic, a format of our own: one key per instance, one whole fact per value.

The key is `["orders"]` for a connector and `["orders",0]` for a task. The value is
`{"worker":"10.0.0.7:9105","generation":57,"partitions":[["t",0]]}`, or a tombstone.
"""

from __future__ import annotations

import json
import logging
from typing import Any

from copycat_connect.cluster import Instance, TopicPartition
from copycat_eventlog.log import Record

from copycat_scheduler.domain.events import Assigned, SchedulerEvent, Unassigned

log = logging.getLogger(__name__)


class SchedulerCodec:
    """Event <-> record of the assignments topic."""

    def encode(self, event: SchedulerEvent) -> Record:
        """Return the record of an event."""
        key = _text([part for part in event.instance if part is not None])
        if isinstance(event, Unassigned):
            return Record(key, None)
        value = {"worker": event.worker_id, "generation": event.generation, "partitions": event.partitions}
        return Record(key, _text(value))

    def decode(self, record: Record) -> SchedulerEvent | None:
        """Return the event of a record; None for keys that are no instance."""
        instance = _instance(_parsed(record.key))
        if instance is None:
            log.warning("ignoring a record of the assignments topic with key %r", record.key)
            return None
        if record.value is None:
            return Unassigned(instance)
        assigned = _assigned(instance, _parsed(record.value))
        if assigned is None:
            # It replaced what was there, so compaction would forget the older assignment too (L1).
            log.error("the assignment of %r cannot be read and counts as none: %r", record.key, record.value)
            return Unassigned(instance)
        return assigned


def _instance(key: Any) -> Instance | None:
    match key:
        case [str(connector)]:
            return Instance(connector)
        case [str(connector), int(task)] if type(task) is int and task >= 0:
            return Instance(connector, task)
        case _:
            return None


def _assigned(instance: Instance, value: Any) -> Assigned | None:
    match value:
        case {"worker": str(worker), "generation": int(generation), "partitions": list(named)}:
            partitions = tuple(_partition(each) for each in named)
            known = tuple(each for each in partitions if each is not None)
            return Assigned(instance, worker, generation, known) if len(known) == len(partitions) else None
        case _:
            return None


def _partition(named: Any) -> TopicPartition | None:
    match named:
        case [str(topic), int(partition)] if type(partition) is int:
            return TopicPartition(topic, partition)
        case _:
            return None


def _text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text.decode())
    except (ValueError, RecursionError):
        return None
