"""Offsets as Kafka Connect writes them: key `["name",{partition}]`, value the offset map.

The key is composed of texts, never parsed and written anew, so that the exact bytes of a partition survive
whatever order and number format its connector uses.
"""

from __future__ import annotations

import json
import logging

from copycat_eventlog.log import Record

from copycat_offset.domain.errors import OffsetFormatError
from copycat_offset.domain.events import OffsetEvent, SourceOffsetCommitted, SourceOffsetForgotten
from copycat_offset.domain.maps import NULL, parse

log = logging.getLogger(__name__)

NAME = json.JSONDecoder()
TEXT = json.JSONEncoder(ensure_ascii=False)


class OffsetCodec:
    """Event <-> record of the offsets topic."""

    def encode(self, event: OffsetEvent) -> Record:
        """Return the record of an event."""
        key = key_of(event.connector, event.partition)
        return Record(key, event.offset if isinstance(event, SourceOffsetCommitted) else None)

    def decode(self, record: Record) -> OffsetEvent | None:
        """Return the event of a record; None for keys Kafka Connect would not have written."""
        try:
            connector, partition = _split(record.key)
        except OffsetFormatError as error:
            log.warning("ignoring a record of the offsets topic with key %r: %s", record.key, error)
            return None
        if record.value is None or record.value == NULL:
            return SourceOffsetForgotten(connector, partition)
        if not _is_offset(record.value):
            # It replaced what was there, so compaction would forget the older offset too (L1).
            log.error("the offset of %r is not a JSON object and reads as none: %r", record.key, record.value)
            return SourceOffsetForgotten(connector, partition)
        return SourceOffsetCommitted(connector, partition, record.value)


def key_of(connector: str, partition: bytes) -> bytes:
    """Return the record key of a source partition."""
    return b"[%b,%b]" % (TEXT.encode(connector).encode(), partition)


def _split(key: bytes) -> tuple[str, bytes]:
    try:
        text = key.decode()
        connector, end = NAME.raw_decode(text, 1)
    except (ValueError, RecursionError) as error:
        raise OffsetFormatError(f"not JSON text: {error}") from error
    partition = text[end + 1 : -1].encode()
    if not isinstance(connector, str) or key != key_of(connector, partition.strip()):
        raise OffsetFormatError("not a compact list of connector name and source partition")
    if partition != NULL and not isinstance(parse(partition), dict):
        raise OffsetFormatError("the source partition is not an object")
    return connector, partition


def _is_offset(value: bytes) -> bool:
    try:
        return isinstance(parse(value), dict)
    except OffsetFormatError:
        return False
