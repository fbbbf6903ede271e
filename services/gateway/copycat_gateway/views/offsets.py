"""Offsets as Kafka Connect shows them: the connector's own maps, or topic, partition and position."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypedDict

from copycat.types.v1 import types_pb2

KAFKA_TOPIC: Final = "kafka_topic"
KAFKA_PARTITION: Final = "kafka_partition"
KAFKA_OFFSET: Final = "kafka_offset"

ALTERED: Final = "altered"
RESET: Final = "reset"


class PartitionOffset(TypedDict):
    """One partition with its offset."""

    partition: Mapping[str, Any]  # JSON of the connector's own making
    offset: Mapping[str, Any]


class ConnectorOffsets(TypedDict):
    """The offsets of a connector."""

    offsets: list[PartitionOffset]


class Message(TypedDict):
    """A sentence for people."""

    message: str


def source_offsets(offsets: Iterable[types_pb2.SourceOffset]) -> ConnectorOffsets:
    """Return a source's offsets; partitions without one are left out."""
    return {
        "offsets": [
            {"partition": json.loads(entry.partition), "offset": json.loads(entry.offset)}
            for entry in offsets
            if entry.HasField("offset")
        ]
    }


def sink_offsets(offsets: Iterable[types_pb2.TopicPartitionOffset]) -> ConnectorOffsets:
    """Return the positions of a sink's consumer group, by topic and partition."""
    return {
        "offsets": [
            {
                "partition": {KAFKA_TOPIC: entry.topic, KAFKA_PARTITION: entry.partition},
                "offset": {KAFKA_OFFSET: entry.offset},
            }
            for entry in sorted(offsets, key=lambda entry: (entry.topic, entry.partition))
        ]
    }


def past_offsets(facts: Mapping[str, Mapping[str, Any] | None]) -> ConnectorOffsets:
    """Return offsets as they were, by the JSON text of their partition; None is left out."""
    return {
        "offsets": [
            {"partition": json.loads(partition), "offset": offset}
            for partition, offset in sorted(facts.items())
            if offset is not None
        ]
    }


def modified(verb: str, handled: bool, *, kip_strict: bool) -> Message:
    """Return the answer to an alter or reset; `handled` is what the connector's hook said."""
    if handled:
        return {"message": f"The offsets for this connector have been {verb} successfully"}
    whose = "framework-managed" if kip_strict else "Connect framework-managed"
    return {
        "message": f"The {whose} offsets for this connector have been {verb} successfully."
        " However, if this connector manages offsets externally, they will need to be manually"
        f" {verb} in the system that the connector uses."
    }
