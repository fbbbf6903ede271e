"""How fastavro's values become Connect's. None stands for values that are that already."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from copycat_connect.data import ConnectValue, Schema, Struct
from copycat_connect.errors import DataError

from copycat_avro.anything import AvroValue
from copycat_avro.logical_types import ToAvro
from copycat_avro.names import KEY, VALUE

_CLASSES: Final[dict[str, tuple[type, ...]]] = {
    "boolean": (bool,),
    "bytes": (bytes,),
    "double": (float,),
    "float": (float,),
    "int": (int,),
    "long": (int,),
    "string": (str,),
    "array": (list,),
    "map": (dict,),
}
_INT: Final = range(-(2**31), 2**31)


class UnionMember(NamedTuple):
    """One type of a union."""

    type: str
    """Its Avro type."""
    full_name: str | None
    """Its name; None when it has none."""
    read: ToAvro | None
    """How its values are read."""


def optional(read: ToAvro | None) -> ToAvro | None:
    """Return a reader that gives null for null and leaves all else to another reader."""
    return None if read is None else lambda value: None if value is None else read(value)


def named_member(read: ToAvro | None) -> ToAvro:
    """Extract the value from the pair with its type's name that fastavro makes of members of unions."""
    take = read or _as_is
    return lambda pair: None if pair is None else take(pair[1])


def array(read: ToAvro | None) -> ToAvro | None:
    """Return a reader of lists that reads each item."""
    return None if read is None else lambda items: [read(item) for item in items]


def text_map(read: ToAvro | None) -> ToAvro | None:
    """Read each value of a map."""
    return None if read is None else lambda value: {key: read(item) for key, item in value.items()}


def entries(read_key: ToAvro | None, read_value: ToAvro | None) -> ToAvro:
    """Read a list of entries as a map."""
    key_of, value_of = read_key or _as_is, read_value or _as_is
    return lambda value: {key_of(entry[KEY]): value_of(entry[VALUE]) for entry in value}


def low_bits(bits: int) -> ToAvro:
    """Read a narrow integer: what does not fit wraps, as Java's does."""
    half, mask = 1 << bits - 1, (1 << bits) - 1
    return lambda value: ((value + half) & mask) - half


def record(fields: Sequence[tuple[str, ToAvro | None]], schema: Schema) -> ToAvro:
    """Read a record as a struct; the fields are looked up, since defaults of a reader's schema come last."""
    names = [name for name, _ in fields]
    of_valid = Struct.of_valid
    if len(names) > 1 and not any(read for _, read in fields):
        take = itemgetter(*names)
        return lambda value: of_valid(schema, [*take(value)])
    steps = [(name, read or _as_is) for name, read in fields]
    return lambda value: of_valid(schema, [read(value[name]) for name, read in steps])


def union(members: Sequence[UnionMember], schema: Schema) -> ToAvro:
    """Read a member of a union as a struct with one field set."""

    def read_union(value: AvroValue) -> ConnectValue:
        if value is None:
            return None
        name, plain = value if isinstance(value, tuple) else (None, value)
        for place, member in enumerate(members):
            if name == member.full_name if name is not None else _is_of(member, plain):
                values: list[ConnectValue] = [None] * len(members)
                values[place] = plain if member.read is None else member.read(plain)
                return Struct.of_valid(schema, values)
        raise DataError("Did not find matching union field for data")

    return read_union


def _is_of(member: UnionMember, value: AvroValue) -> bool:
    if type(value) not in _CLASSES.get(member.type, ()):
        return False
    # fastavro does not say which of int and long it read: an int is what an int can hold.
    return member.type != "int" or value in _INT


def _as_is(value: AvroValue) -> ConnectValue:
    return value
