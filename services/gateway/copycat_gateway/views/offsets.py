"""Offsets as Kafka Connect shows them: the connector's own maps, or topic, partition and position."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from copycat.executor.v1 import executor_service_pb2 as executor_pb2
from copycat.offset.v1 import offset_service_pb2 as offset_pb2
from copycat.types.v1 import types_pb2
from copycat_rest.answers import ConnectorOffsets, Effect, LastPartition, Message, Moved, PartitionOffset

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


_AMOUNT_UNKNOWN = "how much that is, only the connector's system knows"


def _told_by_connector(repeated: int | None, skipped: int | None, unit: str, *, added: bool) -> str:
    """Return what the connector counted."""
    words = [
        f"{verb} at most {count} {unit}" if count is not None else f"may {verb.removesuffix('s')} some {unit}"
        for verb, count in (("repeats", repeated), ("skips", skipped))
        if count != 0
    ]
    said = " and ".join(words) or "repeats and skips nothing"
    return f"{said}; this partition had no offset" if added else said


def _told_by_numbers(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> str:
    """Return what can be seen from two offsets of a connector that explains nothing."""
    if before == after:
        return "repeats and skips nothing"
    if before is None:
        return "this partition had no offset: it is added"
    if after is None:
        return f"begins again from the start; {_AMOUNT_UNKNOWN}"
    steps = {
        field: after[field] - before[field]
        for field in before
        if _is_number(before[field]) and _is_number(after.get(field)) and before[field] != after[field]
    }
    if not steps:
        return "what is repeated or skipped cannot be told"
    words = [f"{field} {'back' if step < 0 else 'forward'} by {abs(step)}" for field, step in steps.items()]
    verb = {(True, False): "repeats", (False, True): "skips"}.get(
        (any(step < 0 for step in steps.values()), any(step > 0 for step in steps.values())), "moves"
    )
    return f"{verb}: {', '.join(words)}; {_AMOUNT_UNKNOWN}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


RECORDS: Final = "records"


def sink_moved(effects: Iterable[offset_pb2.SinkEffect], *, rewinding: bool = False) -> list[Moved]:
    """Return what moves of a sink do; `rewinding`: a position that stays was before the time already."""
    return [
        _moved(
            sink_partition(each.move),
            Effect(
                repeated=_optional(each, "repeated_records"),
                skipped=_optional(each, "skipped_records"),
                unit=RECORDS,
                text=_sink_text(each, rewinding=rewinding),
            ),
        )
        for each in effects
    ]


def source_moved(
    moves: Sequence[executor_pb2.OffsetsMove], effects: Sequence[executor_pb2.OffsetsEffect]
) -> list[Moved]:
    """Return what moves of a source do; `effects` are what its connector says, if anything."""
    moved: list[Moved] = []
    for number, move in enumerate(moves):
        partition = source_partition(move)
        before, after = partition.before, partition.after
        effect = effects[number] if effects else executor_pb2.OffsetsEffect()
        repeated, skipped = _optional(effect, "repeated_count"), _optional(effect, "skipped_count")
        told = repeated is not None or skipped is not None
        text = (
            _told_by_connector(repeated, skipped, effect.unit, added=before is None)
            if told
            else _told_by_numbers(before, after)
        )
        moved.append(_moved(partition, Effect(repeated, skipped, effect.unit or RECORDS, text)))
    return moved


def sink_partition(move: offset_pb2.SinkMove) -> LastPartition:
    """Return a partition of a topic with its positions before and after."""
    before, after = _optional(move, "before"), _optional(move, "after")
    return LastPartition(
        {KAFKA_TOPIC: move.topic, KAFKA_PARTITION: move.partition},
        before=None if before is None else {KAFKA_OFFSET: before},
        after=None if after is None else {KAFKA_OFFSET: after},
    )


def source_partition(move: executor_pb2.OffsetsMove | offset_pb2.SourceMove) -> LastPartition:
    """Return a source partition with its offsets before and after."""
    return LastPartition(
        json.loads(move.partition),
        before=json.loads(move.before) if move.HasField("before") else None,
        after=json.loads(move.after) if move.HasField("after") else None,
    )


def _moved(partition: LastPartition, effect: Effect) -> Moved:
    return Moved(partition.partition, partition.before, partition.after, effect)


def _sink_text(effect: offset_pb2.SinkEffect, *, rewinding: bool) -> str:
    if not effect.HasField("low"):
        return "there is no such partition"
    said = _counted(effect)
    if effect.out_of_range:
        return (
            f"holds offsets {effect.low} to {effect.high}, not this one:"
            f" begins where auto.offset.reset says, {said}"
        )
    stays = effect.move.HasField("before") and effect.move.before == effect.move.after
    if rewinding and stays:
        return "stays: it is not beyond that time"
    if effect.nothing_since:
        return f"to the end, since nothing is as new: {said}"
    if effect.nothing_older:
        return f"to the beginning, since nothing older is there: {said}"
    return said


def _counted(effect: offset_pb2.SinkEffect) -> str:
    if not effect.HasField("repeated_records"):
        return "what is repeated or skipped cannot be told"
    if effect.repeated_records:
        return f"repeats at most {effect.repeated_records} records"
    if effect.skipped_records:
        return f"skips at most {effect.skipped_records} records"
    return "repeats and skips nothing"


def _optional(message: Any, name: str) -> int | None:  # noqa: ANN401 - any message
    return getattr(message, name) if message.HasField(name) else None
