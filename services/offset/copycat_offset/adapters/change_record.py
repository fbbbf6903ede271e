"""The value of the record that remembers a user's last change: one JSON object.

Partitions and offsets of a source are texts in it, so that their exact bytes survive.
"""

from __future__ import annotations

from typing import Any

from copycat_eventlog.json_text import (
    INT32_MAX,
    MalformedError,
    read_integer,
    read_object,
    read_optional_text,
    read_text,
    readable_time,
    write_json,
)

from copycat_offset.domain.changes import OffsetsChange, SinkMove, SourceMove
from copycat_offset.domain.errors import OffsetFormatError
from copycat_offset.domain.maps import check_map, check_partition


def write_change(change: OffsetsChange) -> bytes:
    """Return the value."""
    return write_json(
        {
            "changed_at": change.changed_at,
            "reset": change.reset,
            "undone_at": change.undone_at,
            "group": change.group,
            "source": [
                {"partition": _text(move.partition), "before": _text(move.before), "after": _text(move.after)}
                for move in change.source
            ],
            "sink": [
                {
                    "topic": move.topic,
                    "partition": move.partition,
                    "before": move.before,
                    "after": move.after,
                }
                for move in change.sink
            ],
            "too_large": change.too_large,
        }
    )


def read_change(connector: str, value: bytes) -> OffsetsChange:
    """Return the change that a value remembers.

    Raises:
        MalformedError: It is not what `write_change` wrote.
    """
    found = read_object(value)
    return OffsetsChange(
        connector,
        changed_at=_time(found, "changed_at"),
        reset=found.get("reset") is True,
        undone_at=None if found.get("undone_at") is None else _time(found, "undone_at"),
        group=read_text(found, "group"),
        source=tuple(
            SourceMove(_partition(move), _offset(move, "before"), _offset(move, "after"))
            for move in _objects(found, "source")
        ),
        sink=tuple(
            SinkMove(
                read_text(move, "topic"),
                _number(move),
                _optional_integer(move, "before"),
                _optional_integer(move, "after"),
            )
            for move in _objects(found, "sink")
        ),
        too_large=found.get("too_large") is True,
    )


def _text(text: bytes | None) -> str | None:
    return None if text is None else text.decode()


def _partition(move: dict[str, Any]) -> bytes:
    text = read_text(move, "partition").encode()
    try:
        check_partition(text)
    except OffsetFormatError as error:
        raise MalformedError("field 'partition' is no source partition") from error
    return text


def _offset(move: dict[str, Any], name: str) -> bytes | None:
    text = read_optional_text(move, name)
    if text is None:
        return None
    offset = text.encode()
    try:
        check_map(offset)
    except OffsetFormatError as error:
        raise MalformedError(f"field {name!r} is no source offset") from error
    return offset


def _number(move: dict[str, Any]) -> int:
    number = read_integer(move, "partition")
    if not 0 <= number <= INT32_MAX:
        raise MalformedError("field 'partition' is no number of a partition")
    return number


def _time(found: dict[str, Any], name: str) -> int:
    time_ms = readable_time(read_integer(found, name))
    if time_ms is None:
        raise MalformedError(f"field {name!r} is no time")
    return time_ms


def _optional_integer(found: dict[str, Any], name: str) -> int | None:
    return None if found.get(name) is None else read_integer(found, name)


def _objects(found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    listed = found.get(name)
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise MalformedError(f"field {name!r} is not a list of objects")
    return listed
