"""Values to JSON nodes: for each schema a function is composed once, and then runs for every record."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal

from copycat_connect.data import ConnectValue, FarDate, FarTimestamp, Schema, SchemaType, Struct, logical
from copycat_connect.data.java import class_text, decimal_text, float_text, to_text
from copycat_connect.data.narrow import Float32
from copycat_connect.errors import DataError

from copycat_json.encoding import java_number, raw_number
from copycat_json.node import Node

Writer = Callable[[ConnectValue], Node]
_NULL_REFUSED = "Conversion error: null value for field that is required and has no default value"


class JsonWriter:
    """Makes a function from Connect values to JSON for each schema, once."""

    def __init__(self, *, numeric_decimals: bool, replace_nulls: bool) -> None:
        self._numeric_decimals = numeric_decimals
        self._replace_nulls = replace_nulls

    def writer(self, schema: Schema | None) -> Writer:
        """Return the function that turns values of a schema into nodes; it raises DataError."""
        if schema is None:
            return write_schemaless
        write = self._logical(schema) or self._physical(schema)
        null = self._null(schema, write)

        def write_nullable(value: ConnectValue) -> Node:
            return null() if value is None else write(value)

        return write_nullable

    def _null(self, schema: Schema, write: Writer) -> Callable[[], Node]:
        if schema.default is not None and self._replace_nulls:
            return lambda: write(schema.default)
        if schema.optional:
            return lambda: None

        def refuse() -> Node:
            raise DataError(_NULL_REFUSED)

        return refuse

    def _logical(self, schema: Schema) -> Writer | None:
        match schema.name:
            case logical.DECIMAL:
                return self._decimal(schema)
            case logical.DATE:
                return _write_date
            case logical.TIME:
                return _write_time
            case logical.TIMESTAMP:
                return _write_timestamp
            case _:
                return None

    def _decimal(self, schema: Schema) -> Writer:
        def write(value: ConnectValue) -> Node:
            if not isinstance(value, Decimal):
                raise wrong_class(value, "Decimal, expected BigDecimal but was")
            if self._numeric_decimals:
                return raw_number(decimal_text(value))
            return b64encode(logical.decimal_to_bytes(schema, value)).decode()

        return write

    def _physical(self, schema: Schema) -> Writer:
        match schema.type:
            case SchemaType.ARRAY:
                return self._array(schema)
            case SchemaType.MAP:
                return self._map(schema)
            case SchemaType.STRUCT:
                return self._struct(schema)
            case type_:
                return _PRIMITIVES[type_]

    def _array(self, schema: Schema) -> Writer:
        write_item = self.writer(schema.value)

        def write(value: ConnectValue) -> Node:
            if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
                raise wrong_class(value, f"{schema.type}:")
            return [write_item(item) for item in value]

        return write

    def _map(self, schema: Schema) -> Writer:
        write_key, write_item = self.writer(schema.key), self.writer(schema.value)
        as_object = schema.key is not None and schema.key.type is SchemaType.STRING

        def write(value: ConnectValue) -> Node:
            if not isinstance(value, Mapping):
                raise wrong_class(value, f"{schema.type}:")
            if as_object:
                return {_as_text(write_key(key)): write_item(item) for key, item in value.items()}
            return [[write_key(key), write_item(item)] for key, item in value.items()]

        return write

    def _struct(self, schema: Schema) -> Writer:
        members = tuple((field.name, self.writer(field.schema)) for field in schema.field_list)

        def write(value: ConnectValue) -> Node:
            if not isinstance(value, Struct):
                raise wrong_class(value, f"{schema.type}:")
            if value.schema is not schema and not schema.admits_struct(value.schema):
                raise DataError("Mismatching schema.")
            return {
                name: write_member(item)
                for (name, write_member), item in zip(members, value.values, strict=True)
            }

        return write


def write_schemaless(value: ConnectValue) -> Node:
    """Turn a value without schema into a node.

    Raises:
        DataError: Its class has no place in the data model.
    """
    write = _SCHEMALESS.get(type(value)) or _inherited(value)
    return write(value)


def _inherited(value: ConnectValue) -> Writer:
    if isinstance(value, Struct):
        raise DataError("Mismatching schema.")
    for kind, write in _SCHEMALESS.items():
        if isinstance(value, kind) and not isinstance(value, (datetime, date, time)):
            return write
    message = f"Java class {class_text(value)} does not have corresponding schema type."
    raise DataError(message)


def _schemaless_map(value: Mapping[ConnectValue, ConnectValue]) -> Node:
    if all(isinstance(key, str) for key in value):
        return {key: write_schemaless(item) for key, item in value.items()}
    return [[write_schemaless(key), write_schemaless(item)] for key, item in value.items()]


def _schemaless_integer(value: int) -> Node:
    if not -(1 << 63) <= value < 1 << 63:
        message = f"Java class {class_text(value)} does not have corresponding schema type."
        raise DataError(message)
    return int(value)


def _as_text(node: Node) -> str:
    return node if isinstance(node, str) else to_text(node)


def _write_bytes(value: ConnectValue) -> Node:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise wrong_class(value, "bytes type:")
    return b64encode(value).decode()


def _write_date(value: ConnectValue) -> Node:
    if not isinstance(value, (date, FarDate)) or isinstance(value, datetime):
        raise wrong_class(value, "Date, expected Date but was")
    return logical.date_to_days(value)


def _write_time(value: ConnectValue) -> Node:
    if not isinstance(value, time):
        raise wrong_class(value, "Time, expected Date but was")
    return logical.time_to_millis(value)


def _write_timestamp(value: ConnectValue) -> Node:
    if not isinstance(value, (datetime, FarTimestamp)):
        raise wrong_class(value, "Timestamp, expected Date but was")
    return logical.timestamp_to_millis(value)


def _integer(type_: SchemaType, bits: int) -> Writer:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def write(value: ConnectValue) -> Node:
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return int(value)
        raise wrong_class(value, f"{type_}:")

    return write


def _float32(value: ConnectValue) -> Node:
    if not isinstance(value, float):
        raise wrong_class(value, "FLOAT32:")
    text = float_text(value)
    return text if text[-1] in "Ny" else raw_number(text)


def _float64(value: ConnectValue) -> Node:
    if not isinstance(value, float):
        raise wrong_class(value, "FLOAT64:")
    return java_number(value)


def _boolean(value: ConnectValue) -> Node:
    if not isinstance(value, bool):
        raise wrong_class(value, "BOOLEAN:")
    return value


def _string(value: ConnectValue) -> Node:
    if not isinstance(value, str):
        raise wrong_class(value, "STRING:")
    return value


def wrong_class(value: ConnectValue, expected: str) -> DataError:
    """Return the error about a value of another class than its schema says, in Kafka Connect's words."""
    return DataError(f"Invalid type for {expected} {class_text(value)}")


_PRIMITIVES: dict[SchemaType, Writer] = {
    SchemaType.INT8: _integer(SchemaType.INT8, 8),
    SchemaType.INT16: _integer(SchemaType.INT16, 16),
    SchemaType.INT32: _integer(SchemaType.INT32, 32),
    SchemaType.INT64: _integer(SchemaType.INT64, 64),
    SchemaType.FLOAT32: _float32,
    SchemaType.FLOAT64: _float64,
    SchemaType.BOOLEAN: _boolean,
    SchemaType.STRING: _string,
    SchemaType.BYTES: _write_bytes,
}
_SCHEMALESS: dict[type, Writer] = {
    type(None): lambda value: value,
    bool: lambda value: value,
    str: lambda value: value,
    int: _schemaless_integer,
    float: java_number,
    Float32: _float32,
    bytes: _write_bytes,
    bytearray: _write_bytes,
    memoryview: _write_bytes,
    dict: _schemaless_map,
    list: lambda value: [write_schemaless(item) for item in value],
    tuple: lambda value: [write_schemaless(item) for item in value],
}
