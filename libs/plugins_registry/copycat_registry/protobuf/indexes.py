"""Message indexes: the path to a message within its file, which stands between schema id and payload.

It is a count and as many places, zigzag varints; the first message of all, the usual one, is a byte 0 alone.
"""

from __future__ import annotations

from typing import Final

from copycat_connect.errors import DataError
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto

FIRST_MESSAGE_INDEX: Final = b"\0"
_MAX_LEVELS: Final = 64  # levels of nesting; more is no index but something else's bytes
_MAX_VARINT_BYTES: Final = 5  # of a number of 32 bits


def index_length(data: bytes) -> int:
    """Return how many bytes the indexes at the start of the data are.

    Raises:
        DataError: It has no indexes.
    """
    count, end = _varint(data, 0)
    for _ in range(_checked(count)):
        _, end = _varint(data, end)
    return end


def find_message(file: FileDescriptor, indexes: bytes) -> Descriptor:
    """Return the message that indexes lead to.

    Raises:
        DataError: They lead nowhere.
    """
    count, end = _varint(indexes, 0)
    places = []
    for _ in range(count):
        place, end = _varint(indexes, end)
        places.append(place)
    messages = _in_order(file)
    for place in places or [0]:
        if not 0 <= place < len(messages):
            raise DataError(
                f"A record names message {places} of a schema that has none there: what wrote it is broken."
            )
        found = messages[place]
        messages = list(found.nested_types)
    return found


def indexes_of(message: Descriptor) -> bytes:
    """Return the indexes that lead to a message."""
    places: list[int] = []
    while message.containing_type is not None:
        places.insert(0, message.containing_type.nested_types.index(message))
        message = message.containing_type
    places.insert(0, _in_order(message.file).index(message))
    if places == [0]:
        return FIRST_MESSAGE_INDEX
    return b"".join(map(_encoded, (len(places), *places)))


def message_of(field: FieldDescriptor) -> Descriptor:
    """Return the message that a field of a message type holds."""
    assert field.message_type is not None  # of that type
    return field.message_type


def _in_order(file: FileDescriptor) -> list[Descriptor]:
    proto = FileDescriptorProto.FromString(file.serialized_pb)
    return [file.message_types_by_name[message.name] for message in proto.message_type]


def _checked(count: int) -> int:
    if not 0 <= count <= _MAX_LEVELS:
        raise DataError(
            "The bytes after a schema id are no message indexes: the record was not written as Protobuf."
        )
    return count


def _varint(data: bytes, start: int) -> tuple[int, int]:
    number = shift = 0
    for place in range(start, min(start + _MAX_VARINT_BYTES, len(data))):
        number |= (data[place] & 0x7F) << shift
        if data[place] < 0x80:
            return (number >> 1) ^ -(number & 1), place + 1
        shift += 7
    raise DataError("The message indexes of a record do not end: the record was not written as Protobuf.")


def _encoded(number: int) -> bytes:
    zigzag = number << 1
    encoded = b""
    while zigzag > 0x7F:
        encoded += bytes([zigzag & 0x7F | 0x80])
        zigzag >>= 7
    return encoded + bytes([zigzag])
