"""Which JSON texts may be a source partition or a source offset: flat maps, as Kafka Connect checks them.

The texts are never written anew: a partition is looked up by its exact bytes, so key order and the format of
numbers must survive.
"""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.cluster.strict_json import read_strict_json

from copycat_offset.domain.errors import NestedOffsetError, NotAMapError, NotJsonError, PaddedPartitionError

NULL = b"null"
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
        raise NotAMapError
    for field, content in value.items():
        kind = STRUCTURES.get(type(content))
        if kind is not None:
            raise NestedOffsetError(field, kind)


def check_partition(text: bytes) -> None:
    """Refuse a text that cannot be a source partition: its bytes are part of a key, so blanks count.

    Raises:
        OffsetFormatError: It is not a flat map, or not compact.
    """
    if text != text.strip():
        raise PaddedPartitionError
    check_map(text)


def check_maps(offsets: Mapping[bytes, bytes | None]) -> None:
    """Refuse partitions and offsets that are not flat maps."""
    for partition, offset in offsets.items():
        check_partition(partition)
        if offset is not None:
            check_map(offset)


def parse(text: bytes) -> object:
    """Return what one JSON text says; what nobody can read or write again is not JSON.

    Raises:
        NotJsonError: It is not JSON in UTF-8.
    """
    try:
        parsed: object = read_strict_json(text)
    except ValueError as error:
        raise NotJsonError(error) from error
    return parsed
