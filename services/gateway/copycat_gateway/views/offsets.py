"""Offsets as Kafka Connect shows them: the connector's own maps, or topic, partition and position."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from copycat.types.v1 import types_pb2
from copycat_rest.answers import ConnectorOffsets, Message, PartitionOffset

KAFKA_TOPIC: Final = "kafka_topic"
KAFKA_PARTITION: Final = "kafka_partition"
KAFKA_OFFSET: Final = "kafka_offset"

ALTERED: Final = "altered"
RESET: Final = "reset"


def source_offsets(offsets: Iterable[types_pb2.SourceOffset]) -> ConnectorOffsets:
    """Return a source's offsets; partitions without one are left out."""
    return ConnectorOffsets(
        [
            PartitionOffset(json.loads(entry.partition), json.loads(entry.offset))
            for entry in offsets
            if entry.HasField("offset")
        ]
    )


def sink_offsets(offsets: Iterable[types_pb2.TopicPartitionOffset]) -> ConnectorOffsets:
    """Return the positions of a sink's consumer group, by topic and partition."""
    return ConnectorOffsets(
        [
            PartitionOffset(
                {KAFKA_TOPIC: entry.topic, KAFKA_PARTITION: entry.partition}, {KAFKA_OFFSET: entry.offset}
            )
            for entry in sorted(offsets, key=lambda entry: (entry.topic, entry.partition))
        ]
    )


def past_offsets(facts: Mapping[str, Mapping[str, Any] | None]) -> ConnectorOffsets:
    """Return offsets as they were, by the JSON text of their partition; None is left out."""
    return ConnectorOffsets(
        [
            PartitionOffset(json.loads(partition), offset)
            for partition, offset in sorted(facts.items())
            if offset is not None
        ]
    )


def modified(verb: str, handled: bool, *, kip_strict: bool) -> Message:
    """Return the answer to an alter or reset; `handled` is what the connector's hook said."""
    if handled:
        return Message(f"The offsets for this connector have been {verb} successfully")
    whose = "framework-managed" if kip_strict else "Connect framework-managed"
    return Message(
        f"The {whose} offsets for this connector have been {verb} successfully."
        " However, if this connector manages offsets externally, they will need to be manually"
        f" {verb} in the system that the connector uses."
    )
