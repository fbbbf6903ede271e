r"""Offsets as Kafka Connect writes them (`OffsetCodec`): key `["name",{partition}]`, value the offset map.

The key is composed of texts, never parsed and written anew, so that the exact bytes of a partition survive
whatever order and number format its connector uses.

Beside them is the last change that a user made of each connector's offsets. Its key is one that Kafka
Connect's readers pass over without a word, `["\u0000undo:name",null]`: its second element is null. No
connector is called so, since names have no control characters.
"""

from __future__ import annotations

import json
from typing import Final, assert_never

from copycat_connect.cluster import source_offset_key
from copycat_eventlog.json_text import MalformedError, read_key
from copycat_eventlog.log import Record

from copycat_offset.adapters.change_record import read_change, write_change
from copycat_offset.domain.errors import OffsetFormatError
from copycat_offset.domain.events import (
    ChangeForgotten,
    ChangeRemembered,
    OffsetEvent,
    SourceOffsetCommitted,
    SourceOffsetForgotten,
)
from copycat_offset.domain.maps import NULL, parse

#: What the first element of a key begins with where the record is a user's last change.
CHANGE = "\0undo:"
NAME = json.JSONDecoder()


class OffsetCodec:
    """Writes and reads what Kafka Connect does; a partition whose value cannot be read has no offset."""

    forgets_unreadable: Final = True

    def encode(self, event: OffsetEvent) -> Record:
        """Return the record that states the event."""
        match event:
            case SourceOffsetCommitted(connector, partition, offset):
                return Record(source_offset_key(connector, partition), offset)
            case SourceOffsetForgotten(connector, partition):
                return Record(source_offset_key(connector, partition), None)
            case ChangeRemembered(change):
                return Record(change_key(change.connector), write_change(change))
            case ChangeForgotten(connector):
                return Record(change_key(connector), None)
            case _:
                assert_never(event)

    def decode(self, record: Record) -> OffsetEvent:
        """Return the event a record states.

        Raises:
            MalformedError: Kafka Connect would not have written its key, or its value.
        """
        connector, partition = _read_key(record.key)
        if partition == NULL and connector.startswith(CHANGE):
            return _read_change(record, connector.removeprefix(CHANGE))
        if record.value is None or record.value == NULL:
            return SourceOffsetForgotten(connector, partition)
        _check_object(record.value, "the value")
        return SourceOffsetCommitted(connector, partition, record.value)


def change_key(connector: str) -> bytes:
    """Return the record key of a connector's last change."""
    return source_offset_key(CHANGE + connector, NULL)


def _read_change(record: Record, connector: str) -> OffsetEvent:
    if record.value is None:
        return ChangeForgotten(connector)
    return ChangeRemembered(read_change(connector, record.value))


def _read_key(key: bytes) -> tuple[str, bytes]:
    text = read_key(key)
    try:
        connector, end = NAME.raw_decode(text, 1)
        partition = text[end + 1 : -1].encode()
        composed = isinstance(connector, str) and source_offset_key(connector, partition.strip())
    except (ValueError, RecursionError) as error:  # of them, a name with half of a surrogate pair
        raise MalformedError("the key is not JSON text") from error
    if key != composed:
        raise MalformedError("the key is not a compact list of connector name and source partition")
    if partition != NULL:
        _check_object(partition, "the source partition")
    return connector, partition


def _check_object(text: bytes, what: str) -> None:
    try:
        found = parse(text)
    except OffsetFormatError as error:
        raise MalformedError(f"{what} is not JSON: {error.__cause__}") from error
    if not isinstance(found, dict):
        raise MalformedError(f"{what} is not a JSON object")
