"""Source partitions and offsets on the wire: both are JSON texts, and no offset stays unset."""

from __future__ import annotations

from collections.abc import Iterable

from copycat.types.v1 import types_pb2


def source_offsets_to_proto(
    offsets: Iterable[tuple[bytes, bytes | None]],
) -> list[types_pb2.SourceOffset]:
    """Return the messages of pairs of source partition and offset; None where there is no offset."""
    return [types_pb2.SourceOffset(partition=partition, offset=offset) for partition, offset in offsets]


def source_offsets_from_proto(messages: Iterable[types_pb2.SourceOffset]) -> dict[bytes, bytes | None]:
    """Return offsets by source partition; of one that is named twice the last counts."""
    return {each.partition: each.offset if each.HasField("offset") else None for each in messages}
