"""The key under which a source offset is kept in an offsets topic, Kafka Connect's, and what is in it."""

from __future__ import annotations

import json
from typing import Final

_TEXT: Final = json.JSONEncoder(ensure_ascii=False)


def source_offset_key(connector: str, partition: bytes) -> bytes:
    """Return `["<connector>",<partition>]`; the partition is compact JSON, whose bytes are its identity."""
    return b"[%b,%b]" % (_TEXT.encode(connector).encode(), partition)


def in_any_order(partition: str | bytes) -> str:
    """Return a text that is the same for each order in which the keys of a partition may be written."""
    return json.dumps(json.loads(partition), sort_keys=True)
