"""JSON nodes to values: for each schema a function is composed once, and then runs for every record.

Numbers are taken as Jackson takes them: cut to the width of the type, and text in place of a number is zero.
"""

from __future__ import annotations

import math
import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable
from decimal import Decimal

from copycat_connect.data import ConnectValue, Schema, SchemaType, Struct, logical
from copycat_connect.data.java import round_to_float32
from copycat_connect.errors import DataError

from copycat_json.decoding import without_extremes, wrap
from copycat_json.node import MISSING, Node

Reader = Callable[[Node], ConnectValue]
_CONTROL = re.compile(r"[\x00-\x20]+")


class JsonReader:
    """Makes a function from JSON to Connect values for each schema, once."""

    def __init__(self, *, replace_nulls: bool) -> None:
        self._replace_nulls = replace_nulls

    def reader(self, schema: Schema | None) -> Reader:
        """Return the function that turns nodes into values of a schema; it raises DataError."""
        if schema is None:
            return without_extremes
        read = _logical(schema) or self._physical(schema)
        null = self._null(schema)

        def read_nullable(node: Node) -> ConnectValue:
            return null() if node is None else read(node)

        return read_nullable

    def _null(self, schema: Schema) -> Callable[[], ConnectValue]:
        if schema.default is not None and self._replace_nulls:
            return lambda: schema.default
        if schema.optional:
            return lambda: None

        def refuse() -> ConnectValue:
            message = f"Invalid null value for required {schema.type} field"
            raise DataError(message)

        return refuse

    def _physical(self, schema: Schema) -> Reader:
        match schema.type:
            case SchemaType.ARRAY:
                read_item = self.reader(schema.value)
                return lambda node: [read_item(item) for item in _children(node)]
            case SchemaType.MAP:
                return self._map(schema)
            case SchemaType.STRUCT:
                return self._struct(schema)
            case type_:
                return _PRIMITIVES[type_]

    def _map(self, schema: Schema) -> Reader:
        read_key, read_item = self.reader(schema.key), self.reader(schema.value)

        def read_object(node: Node) -> ConnectValue:
            if not isinstance(node, dict):
                raise _found("Maps with string fields should be encoded as JSON objects, but found", node)
            return {key: read_item(item) for key, item in node.items()}

        def read_pairs(node: Node) -> ConnectValue:
            if not isinstance(node, list):
                text = "Maps with non-string fields should be encoded as JSON array of tuples, but found"
                raise _found(text, node)
            return {read_key(key): read_item(item) for key, item in map(_pair, node)}

        string_keys = schema.key is not None and schema.key.type is SchemaType.STRING
        return read_object if string_keys else read_pairs

    def _struct(self, schema: Schema) -> Reader:
        members = tuple((field, self.reader(field.schema)) for field in schema.field_list)

        def read(node: Node) -> ConnectValue:
            if not isinstance(node, dict):
                raise _found("Structs should be encoded as JSON objects, but found", node)
            struct = Struct(schema)
            values = struct.values
            for field, read_member in members:
                value = read_member(node.get(field.name))
                if value is None:
                    struct.put(field, None)
                else:
                    # What a reader returns fits its schema: no need to check again.
                    values[field.index] = value
            return struct

        return read


def reads_decimals(schema: Schema | None) -> bool:
    """Return whether there is a Decimal anywhere in the schema, so that digits must be read as written."""
    if schema is None:
        return False
    if schema.name == logical.DECIMAL:
        return True
    children = (schema.key, schema.value, *(field.schema for field in schema.field_list))
    return any(map(reads_decimals, children))


def node_type(node: Node) -> str:
    """Return Jackson's name of a node's type."""
    for name, kinds in _NODE_TYPES:
        if isinstance(node, kinds):
            return name
    return "POJO"


_NODE_TYPES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("NULL", (type(None),)),
    ("BOOLEAN", (bool,)),
    ("NUMBER", (int, float, Decimal)),
    ("STRING", (str,)),
    ("ARRAY", (list,)),
    ("OBJECT", (dict,)),
    ("MISSING", (type(MISSING),)),
)


def _found(problem: str, node: Node) -> DataError:
    return DataError(f"{problem} {node_type(node)}")


def _children(node: Node) -> list[Node]:
    if isinstance(node, list):
        return node
    return list(node.values()) if isinstance(node, dict) else []


def _pair(entry: Node) -> list[Node]:
    if not isinstance(entry, list):
        message = f"Found invalid map entry instead of array tuple: {node_type(entry)}"
        raise DataError(message)
    if len(entry) != 2:
        message = f"Found invalid map entry, expected length 2 but found :{len(entry)}"
        raise DataError(message)
    return entry


def _integer(bits: int) -> Reader:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def read(node: Node) -> ConnectValue:
        if type(node) is int:
            return node if low <= node <= high else wrap(node, bits)
        if isinstance(node, (float, Decimal)) and math.isfinite(node):
            return wrap(int(node), bits)
        return 0

    return read


def _float64(node: Node) -> ConnectValue:
    is_number = isinstance(node, (int, float, Decimal)) and not isinstance(node, bool)
    # A sum with zero, since BigDecimal knows no negative zero.
    return float(node) + 0.0 if is_number else 0.0


def _float32(node: Node) -> ConnectValue:
    return round_to_float32(_float64(node))


def _decode_base64(node: Node) -> bytes:
    return b64decode(_CONTROL.sub("", node), validate=True)


def _bytes(node: Node) -> ConnectValue:
    if not isinstance(node, str):
        return None
    try:
        return _decode_base64(node)
    except (Base64Error, ValueError) as error:
        raise DataError("Invalid bytes field") from error


def _logical(schema: Schema) -> Reader | None:
    match schema.name:
        case logical.DECIMAL:
            return lambda node: _decimal(schema, node)
        case logical.DATE:
            return lambda node: logical.date_from_days(_int_node("Date", 32, node))
        case logical.TIME:
            return lambda node: logical.time_from_millis(_int_node("Time", 32, node))
        case logical.TIMESTAMP:
            return lambda node: logical.timestamp_from_millis(_int_node("Timestamp", 64, node))
        case _:
            return None


def _decimal(schema: Schema, node: Node) -> ConnectValue:
    if isinstance(node, (int, float, Decimal)) and not isinstance(node, bool):
        number = Decimal(node) if isinstance(node, (int, Decimal)) else Decimal(repr(node))
        return number or number.copy_abs()
    if not isinstance(node, str):
        text = "Invalid type for Decimal, underlying representation should be numeric or bytes but was"
        raise _found(text, node)
    try:
        return logical.decimal_from_bytes(schema, _decode_base64(node))
    except (Base64Error, DataError, ValueError) as error:
        raise DataError("Invalid bytes for Decimal field") from error


def _int_node(name: str, bits: int, node: Node) -> int:
    kind = "integer" if bits == 32 else "integral"
    if type(node) is not int or not -(1 << bits - 1) <= node < 1 << bits - 1:
        raise _found(f"Invalid type for {name}, underlying representation should be {kind} but was", node)
    return node


_PRIMITIVES: dict[SchemaType, Reader] = {
    SchemaType.INT8: _integer(8),
    SchemaType.INT16: _integer(16),
    SchemaType.INT32: _integer(32),
    SchemaType.INT64: _integer(64),
    SchemaType.FLOAT32: _float32,
    SchemaType.FLOAT64: _float64,
    SchemaType.BOOLEAN: lambda node: node if isinstance(node, bool) else False,
    SchemaType.STRING: lambda node: node if isinstance(node, str) else None,
    SchemaType.BYTES: _bytes,
}
