"""The value of the record that remembers a user's last change: one JSON object.

Partitions and offsets of a source are texts in it, so that their exact bytes survive.
"""

from __future__ import annotations

from typing import Any

from copycat_eventlog.json_text import (
    MalformedError,
    read_integer,
    read_object,
    read_optional_text,
    read_text,
    write_json,
)

from copycat_offset.domain.changes import OffsetsChange, SinkMove, SourceMove


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
        changed_at=read_integer(found, "changed_at"),
        reset=found.get("reset") is True,
        undone_at=_optional_integer(found, "undone_at"),
        group=read_text(found, "group"),
        source=tuple(
            SourceMove(
                read_text(move, "partition").encode(),
                _bytes(read_optional_text(move, "before")),
                _bytes(read_optional_text(move, "after")),
            )
            for move in _objects(found, "source")
        ),
        sink=tuple(
            SinkMove(
                read_text(move, "topic"),
                read_integer(move, "partition"),
                _optional_integer(move, "before"),
                _optional_integer(move, "after"),
            )
            for move in _objects(found, "sink")
        ),
        too_large=found.get("too_large") is True,
    )


def _text(text: bytes | None) -> str | None:
    return None if text is None else text.decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _optional_integer(found: dict[str, Any], name: str) -> int | None:
    return None if found.get(name) is None else read_integer(found, name)


def _objects(found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    listed = found.get(name)
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        message = f"field {name!r} is not a list of objects"
        raise MalformedError(message)
    return listed
