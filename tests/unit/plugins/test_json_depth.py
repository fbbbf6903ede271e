"""How deep JSON may be nested: as deep as Jackson reads it, 1,000 levels, on every way of reading."""

from __future__ import annotations

from typing import Any

import pytest
from copycat_connect.errors import DataError
from copycat_json.decoding import (
    NotStrictError,
    read,
    read_batch,
    read_batch_strictly,
    read_for_schema,
    read_strictly,
)

DEEPEST = b"[" * 1000 + b"]" * 1000
TOO_DEEP = b"[" * 1001 + b"]" * 1001
BROAD = b"[" + b",".join([b"[]"] * 2000) + b"]"


def levels(node: Any) -> int:
    found = 0
    while isinstance(node, list):
        found, node = found + 1, node[0] if node else None
    return found


def test_a_thousand_levels_are_read() -> None:
    single = [levels(node) for node in (read(DEEPEST), read_for_schema(DEEPEST), read_strictly(DEEPEST))]
    many = [levels(node) for node in (*read_batch([BROAD, DEEPEST]), *read_batch_strictly([DEEPEST]))]

    assert (single, many) == ([1000, 1000, 1000], [2, 1000, 1000])


def test_one_level_more_is_refused() -> None:
    for refused in (
        lambda: read(TOO_DEEP),
        lambda: read_for_schema(TOO_DEEP),
        lambda: read_batch([b"1", TOO_DEEP]),
    ):
        with pytest.raises(DataError, match="failed due to serialization error"):
            refused()
    for refused in (lambda: read_strictly(TOO_DEEP), lambda: read_batch_strictly([b"1", TOO_DEEP])):
        with pytest.raises(NotStrictError):
            refused()
