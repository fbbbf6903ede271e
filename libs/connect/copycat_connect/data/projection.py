"""Schema projection: a value written with one version of a schema, as another version of it has it.

The rules and texts are those of Kafka Connect's SchemaProjector.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from copycat_connect.data.java import class_text, round_to_float32, to_text
from copycat_connect.data.schema import ConnectValue, Schema, SchemaType
from copycat_connect.data.struct import Struct
from copycat_connect.errors import DataError, ErrorCode

#: Numbers may become any type at or after their own.
_NUMBERS: Final = (
    SchemaType.INT8,
    SchemaType.INT16,
    SchemaType.INT32,
    SchemaType.INT64,
    SchemaType.FLOAT32,
    SchemaType.FLOAT64,
)
_BITS: Final = {SchemaType.INT8: 8, SchemaType.INT16: 16, SchemaType.INT32: 32, SchemaType.INT64: 64}


class SchemaProjectionError(DataError):
    """A value cannot be projected to the other schema (Kafka's SchemaProjectorException)."""

    code = ErrorCode("connect.schema_projection", grpc="INVALID_ARGUMENT", http=400)


def project(source: Schema | None, record: ConnectValue, target: Schema | None) -> ConnectValue:
    """Return a value of the source schema as a value of the target schema.

    Types and names must be the same, but that numbers may widen, from INT8 over INT64 to FLOAT64. A struct
    drops fields that the target does not have; fields that only the target has are unset or its default.
    Versions and docs do not count. Fields are read with their defaults.

    Args:
        source: The schema the value was written with.
        record: The value.
        target: The schema the value shall have.

    Returns:
        The value; a new one wherever there are structs, arrays or maps.

    Raises:
        SchemaProjectionError: The schemas are too different, or the source allows for null where the target
            neither does nor has a default. For a field, its cause says why.
        DataError: The value is not of the source schema.
    """
    if source is None or target is None:
        raise SchemaProjectionError("Values without a schema cannot be projected.")
    _check_compatible(source, target)
    if source.optional and not target.optional and target.default is None:
        raise SchemaProjectionError(
            "Writer schema is optional, however, target schema does not provide a default value."
        )
    if record is None:
        return target.default if source.optional and not target.optional else None
    match target.type:
        case SchemaType.STRUCT:
            return _project_struct(source, record, target)
        case SchemaType.ARRAY:
            return _project_array(source, record, target)
        case SchemaType.MAP:
            return _project_map(source, record, target)
        case kind if kind in _NUMBERS:
            return _widened(record, kind)
        case _:
            return record


def _check_compatible(source: Schema, target: Schema) -> None:
    if source.type is not target.type and not _may_become(source.type, target.type):
        raise SchemaProjectionError(
            f"Schema type mismatch. source type: {source.type} and target type: {target.type}"
        )
    if source.name != target.name:
        names = f"source name: {to_text(source.name)} and target name: {to_text(target.name)}"
        raise SchemaProjectionError(f"Schema name mismatch. {names}")
    if source.parameters != target.parameters:
        given, wanted = (to_text(each.parameters and dict(each.parameters)) for each in (source, target))
        raise SchemaProjectionError(
            f"Schema parameters not equal. source parameters: {given} and target parameters: {wanted}"
        )


def _may_become(source: SchemaType, target: SchemaType) -> bool:
    numbers = source in _NUMBERS and target in _NUMBERS
    return numbers and _NUMBERS.index(source) <= _NUMBERS.index(target)


def _project_struct(source: Schema, record: ConnectValue, target: Schema) -> Struct:
    if not isinstance(record, Struct):
        raise _wrong_class(record, "org.apache.kafka.connect.data.Struct")
    projected = Struct(target)
    for field in target.fields:
        known = source.field(field.name)
        if known is not None:
            try:
                value = project(known.schema, record.get(field.name), field.schema)
            except SchemaProjectionError as error:
                raise SchemaProjectionError(f"Error projecting {field.name}") from error
            projected.put(field, value)
        elif not field.schema.optional:
            if field.schema.default is None:
                raise SchemaProjectionError(
                    f"Required field `{field.name}` is missing from source schema: {source}"
                )
            projected.put(field, field.schema.default)
    return projected


def _project_array(source: Schema, record: ConnectValue, target: Schema) -> list[ConnectValue]:
    if not isinstance(record, Sequence) or isinstance(record, (str, bytes, bytearray, memoryview)):
        raise _wrong_class(record, "java.util.List")
    return [project(source.value_schema, item, target.value_schema) for item in record]


def _project_map(source: Schema, record: ConnectValue, target: Schema) -> dict[ConnectValue, ConnectValue]:
    if not isinstance(record, Mapping):
        raise _wrong_class(record, "java.util.Map")
    return {
        project(source.key_schema, key, target.key_schema): project(
            source.value_schema, item, target.value_schema
        )
        for key, item in record.items()
    }


def _widened(record: ConnectValue, kind: SchemaType) -> ConnectValue:
    if isinstance(record, bool) or not isinstance(record, (int, float, Decimal)):
        return record  # a logical type's value
    if kind is SchemaType.FLOAT32:
        return round_to_float32(float(_sticky(record) if isinstance(record, int) else record))
    if kind is SchemaType.FLOAT64:
        return float(record)
    bits = _BITS[kind]
    number = _whole(record, max(bits, 32)) if isinstance(record, float) else int(record)
    low = number & (1 << bits) - 1
    return low - (1 << bits) if low >> bits - 1 else low


def _sticky(number: int) -> int:
    """Return an integer that a double holds and that rounds to the same 32-bit float."""
    beyond = max(0, number.bit_length() - 50)
    kept = abs(number) >> beyond
    kept |= kept << beyond != abs(number)
    return kept << beyond if number >= 0 else -(kept << beyond)


def _whole(number: float, bits: int) -> int:
    """Return a float as Java casts it: cut, within the bits, and 0 for what is not a number."""
    if math.isnan(number):
        return 0
    return int(max(-(2.0 ** (bits - 1)), min(number, 2.0 ** (bits - 1)))) - (number >= 2.0 ** (bits - 1))


def _wrong_class(record: ConnectValue, wanted: str) -> DataError:
    return DataError(f"{class_text(record)} cannot be cast to class {wanted}")
