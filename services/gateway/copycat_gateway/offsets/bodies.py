"""Offset requests: the entries of a body -> what the services take, in Kafka Connect's terms and texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TopicPartition, in_any_order
from copycat_connect.data.java import parse_integer, to_text

from copycat_gateway.bodies import Json, OffsetEntry, clean
from copycat_gateway.edge.answers import to_json
from copycat_gateway.errors import BadRequestError
from copycat_gateway.views.offsets import KAFKA_OFFSET, KAFKA_PARTITION, KAFKA_TOPIC

INT_BITS: Final = 32
LONG_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class SinkChange:
    """What to do with one partition of a sink's consumer group."""

    topic: str
    """Topic name."""
    partition: int
    """Partition number."""
    offset: int | None
    """The next offset to read; missing: forget the partition."""


def source_changes(entries: Iterable[OffsetEntry]) -> Sequence[types_pb2.SourceOffset]:
    """Return the new source offsets; what they mean is for the connector to judge."""
    changes: dict[bytes, types_pb2.SourceOffset] = {}
    for entry in entries:
        if entry.partition is None:
            raise BadRequestError("The partition for a source connector offset cannot be null or missing")
        partition = to_json(entry.partition)
        offset = None if entry.offset is None else to_json(entry.offset)
        changes[partition] = types_pb2.SourceOffset(partition=partition, offset=offset)
    return list(changes.values())


def as_known(
    changes: Sequence[types_pb2.SourceOffset], known: Iterable[types_pb2.SourceOffset]
) -> Sequence[types_pb2.SourceOffset]:
    """Return changes with partitions written as those known already, where only the order of keys differs.

    Offsets are found by the very bytes in which a task names its partition: in another order they would be
    a second entry that no task sees.
    """
    there = {each.partition for each in known}
    written = {in_any_order(partition): partition for partition in there}
    found: dict[bytes, types_pb2.SourceOffset] = {}
    for each in changes:
        exact = each.partition in there
        partition = each.partition if exact else written.get(in_any_order(each.partition), each.partition)
        offset = each.offset if each.HasField("offset") else None
        found[partition] = types_pb2.SourceOffset(partition=partition, offset=offset)
    return list(found.values())


def sink_changes(entries: Iterable[OffsetEntry]) -> Sequence[SinkChange]:
    """Return what to do with each partition; of two entries for one the later counts."""
    changes = {(change.topic, change.partition): change for change in map(_sink_change, entries)}
    return list(changes.values())


def _sink_change(entry: OffsetEntry) -> SinkChange:
    if entry.partition is None:
        raise BadRequestError("The partition for a sink connector offset cannot be null or missing")
    topic, partition = _topic_partition(entry.partition)
    if entry.offset is None:
        return SinkChange(topic, partition, None)
    if KAFKA_OFFSET not in entry.offset:
        raise BadRequestError(
            f"The offset for a sink connector should either be null or contain the key '{KAFKA_OFFSET}'"
        )
    text = _text(entry.offset[KAFKA_OFFSET])
    offset = parse_integer(text, LONG_BITS)
    if offset is None:
        raise BadRequestError(
            f"Failed to parse the following Kafka offset value in the provided offsets: '{text}'."
            " Offset values for sink connectors need to be integers."
        )
    if offset < 0:
        raise BadRequestError(
            f"Kafka offsets may not be negative, got {offset} for partition {topic}-{partition}"
        )
    return SinkChange(topic, partition, offset)


def _topic_partition(fields: Mapping[str, Json]) -> TopicPartition:
    if KAFKA_TOPIC not in fields or KAFKA_PARTITION not in fields:
        raise BadRequestError(
            "The partition for a sink connector offset must contain the keys"
            f" '{KAFKA_TOPIC}' and '{KAFKA_PARTITION}'"
        )
    if fields[KAFKA_TOPIC] is None:
        raise BadRequestError("Kafka topic names must be valid strings and may not be null")
    if fields[KAFKA_PARTITION] is None:
        raise BadRequestError("Kafka partitions must be valid numbers and may not be null")
    text = _text(fields[KAFKA_PARTITION])
    partition = parse_integer(text, INT_BITS)
    if partition is None:
        raise BadRequestError(
            f"Failed to parse the following Kafka partition value in the provided offsets: '{text}'."
            " Partition values for sink connectors need to be integers."
        )
    topic = _text(fields[KAFKA_TOPIC])
    if not topic:
        raise BadRequestError("Kafka topic names may not be empty: write the topic's name as 'kafka_topic'")
    if partition < 0:
        raise BadRequestError(f"Kafka partitions may not be negative, got {partition} of topic {topic}")
    return TopicPartition(topic, partition)


def _text(value: Json) -> str:
    """Return what Java's String.valueOf makes of a value: Kafka Connect reads numbers from that."""
    return clean(to_text(value))
