"""Which JSON texts may be a source partition or a source offset: flat maps, as Kafka Connect checks them.

The texts are never written anew: a partition is looked up by its exact bytes, so key order and the format of
numbers must survive.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NoReturn

from copycat_offset.domain.errors import OffsetFormatError


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


NULL = b"null"
#: Built once: the commit of 100 000 partitions reads as many texts, and so does a fold of them.
STRICT = json.JSONDecoder(parse_constant=_refuse)
STRUCTURES: dict[type, str] = {dict: "MAP", list: "ARRAY"}


def check_map(text: bytes) -> None:
    """Refuse a text that is neither null nor an object whose values are primitives.

    Raises:
        OffsetFormatError: With Kafka Connect's sentence.
    """
    if text == NULL:
        return
    value = parse(text)
    if not isinstance(value, dict):
        raise OffsetFormatError("Offsets must be specified as a Map")
    for field, content in value.items():
        kind = STRUCTURES.get(type(content))
        if kind is not None:
            raise OffsetFormatError(
                f"Offsets may only contain primitive types as values, but field '{field}' contains {kind}",
                field=field,
            )


def check_partition(text: bytes) -> None:
    """Refuse a text that is no source partition: its bytes are part of a key, so blanks count.

    Raises:
        OffsetFormatError: It is no flat map, or not compact.
    """
    if text != text.strip():
        raise OffsetFormatError("A source partition is compact JSON without blanks around it")
    check_map(text)


def check_maps(offsets: Mapping[bytes, bytes | None]) -> None:
    """Refuse partitions and offsets that are not flat maps."""
    for partition, offset in offsets.items():
        check_partition(partition)
        if offset is not None:
            check_map(offset)


def parse(text: bytes) -> object:
    """Read one JSON text strictly.

    Raises:
        OffsetFormatError: It is not JSON in UTF-8.
    """
    try:
        parsed: object = STRICT.decode(text.decode())
    except (ValueError, RecursionError) as error:
        raise OffsetFormatError(f"A source partition or offset is not JSON: {error}") from error
    return parsed
