"""Turns events of the offsets topic, and positions of sinks, into changes of a connector."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from copycat.types.v1 import types_pb2
from copycat_eventlog.past.change import COMMIT, OFFSETS, PastChange, fact_text
from copycat_eventlog.past.own_log import Describing
from copycat_telemetry.changes import AUTOMATIC, Asker

from copycat_offset.domain.changes import OffsetsChange
from copycat_offset.domain.events import (
    ChangeForgotten,
    ChangeRemembered,
    OffsetEvent,
    SourceOffsetCommitted,
    SourceOffsetForgotten,
)
from copycat_offset.domain.state import OffsetState

#: Commits are many: the log keeps each for a while, and samples of them are kept beyond.
NOT_IN_HISTORY: Final = (SourceOffsetCommitted, SourceOffsetForgotten, ChangeForgotten)
PartitionText: TypeAlias = tuple[str, str | None]
"""A partition and its offset as JSON texts; None where it was forgotten."""
TASKS: Final = Asker(AUTOMATIC, "tasks")


def tell(event: OffsetEvent, before: OffsetState | None) -> Iterable[PastChange]:
    """Tell an event."""
    del before  # a change of offsets says itself what was before
    match event:
        case SourceOffsetCommitted(connector, partition, offset):
            return (commit(connector, partition.decode(), offset.decode()),)
        case SourceOffsetForgotten(connector, partition):
            return (commit(connector, partition.decode(), None),)
        case ChangeRemembered(change):
            return (_change(change),)
        case ChangeForgotten():
            return ()


def commit(connector: str, partition: str, offset: str | None, time_ms: int = 0) -> PastChange:
    """Return the commit of one partition, both as JSON texts."""
    what = "forgotten" if offset is None else "committed"
    return PastChange(time_ms, connector, COMMIT, what, partition, after=offset, by=TASKS)


def committed(offsets: Mapping[bytes, bytes | None]) -> Iterable[PartitionText]:
    """Return what a source committed."""
    for partition, offset in offsets.items():
        yield partition.decode(), None if offset is None else offset.decode()


def positioned(offsets: Iterable[types_pb2.TopicPartitionOffset]) -> Iterable[PartitionText]:
    """Return what a sink committed, as REST shows it."""
    return (_position(each.topic, each.partition, each.offset) for each in offsets)


def moved(change: OffsetsChange) -> Iterable[PartitionText]:
    """Return where a user moves a sink; a source's commit has an event of its own."""
    return (_position(move.topic, move.partition, move.after) for move in change.sink)


def _position(topic: str, partition: int, offset: int | None) -> PartitionText:
    where = fact_text({"kafka_topic": topic, "kafka_partition": partition})
    return where, None if offset is None else fact_text({"kafka_offset": offset})


def _change(change: OffsetsChange) -> PastChange:
    moves: list[dict[str, Any]] = [
        {"partition": _json(move.partition), "before": _json(move.before), "after": _json(move.after)}
        for move in change.source
    ]
    moves += [
        {
            "partition": {"kafka_topic": move.topic, "kafka_partition": move.partition},
            "before": move.before,
            "after": move.after,
        }
        for move in change.sink
    ]
    what = "undone" if change.undone_at is not None else "reset" if change.reset else "altered"
    about = fact_text({"moves": moves, "too_large": change.too_large})
    return PastChange(0, change.connector, OFFSETS, what, after=about)


def _json(text: bytes | None) -> Any:
    return None if text is None else json.loads(text)


def _concerns(key: bytes, connector: str) -> bool:
    return key.startswith(b"[" + json.dumps(connector, ensure_ascii=False).encode() + b",")


TELLING: Final[Describing[OffsetEvent, OffsetState]] = Describing(
    tell, frozenset({COMMIT}), NOT_IN_HISTORY, _concerns
)
