"""Values as JsonSchemaConverter has them: JsonConverter's, but for maps, unions and absent properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from copycat_connect.data import ConnectValue, Field, Schema, SchemaType, Struct
from copycat_connect.errors import DataError
from copycat_json.node import Node
from copycat_json.reader import JsonReader, Reader, node_type
from copycat_json.writer import JsonWriter, Writer, wrong_class

from copycat_registry.jsonschema.names import KEY, VALUE, has_text_keys, is_union


class JsonSchemaWriter(JsonWriter):
    """Makes a function from Connect values to JSON for each schema, once."""

    def _map(self, schema: Schema) -> Writer:
        if has_text_keys(schema):
            return super()._map(schema)
        write_key, write_item = self.writer(schema.key), self.writer(schema.value)

        def write(value: ConnectValue) -> Node:
            if not isinstance(value, Mapping):
                raise wrong_class(value, "MAP:")
            return [{KEY: write_key(key), VALUE: write_item(item)} for key, item in value.items()]

        return write

    def _struct(self, schema: Schema) -> Writer:
        if not is_union(schema):
            return super()._struct(schema)
        members = [self.writer(field.schema) for field in schema.field_list]

        def write(value: ConnectValue) -> Node:
            if not isinstance(value, Struct):
                raise wrong_class(value, "STRUCT:")
            if value.schema is not schema and not schema.admits_struct(value.schema):
                raise DataError("Mismatching schema.")
            for write_member, item in zip(members, value.values, strict=True):
                if item is not None:
                    return write_member(item)
            raise DataError("A struct that stands for a union has no field set: set the one with the value.")

        return write


class JsonSchemaReader(JsonReader):
    """Makes a function from JSON to Connect values for each schema, once."""

    def _map(self, schema: Schema) -> Reader:
        if has_text_keys(schema):
            return super()._map(schema)
        read_key, read_item = self.reader(schema.key), self.reader(schema.value)

        def read(node: Node) -> ConnectValue:
            if not isinstance(node, list):
                text = "Maps with non-string fields should be encoded as JSON array of objects, but found"
                raise DataError(f"{text} {node_type(node)}")
            return {read_key(entry.get(KEY)): read_item(entry.get(VALUE)) for entry in map(_entry, node)}

        return read

    def _struct(self, schema: Schema) -> Reader:
        if is_union(schema):
            return self._union(schema)
        members = tuple((field.name, self.reader(field.schema)) for field in schema.field_list)
        defaults = [field.schema.default for field in schema.field_list]

        def read(node: Node) -> ConnectValue:
            if not isinstance(node, dict):
                raise DataError(f"Structs should be encoded as JSON objects, but found {node_type(node)}")
            # What is absent stays unset, whether the schema requires it or not, as Connect's users have it.
            return Struct.of_valid(schema, [
                read_member(node[name]) if name in node else default
                for (name, read_member), default in zip(members, defaults, strict=True)
            ])  # fmt: skip

        return read

    def _union(self, schema: Schema) -> Reader:
        members = [(field, self.reader(field.schema)) for field in schema.field_list]

        def read(node: Node) -> ConnectValue:
            chosen = _member_for(node, schema.field_list)
            values: list[ConnectValue] = [None] * len(members)
            values[chosen.index] = members[chosen.index][1](node)
            return Struct.of_valid(schema, values)

        return read


def _entry(node: Node) -> dict[str, Node]:
    if not isinstance(node, dict):
        raise DataError(f"Found invalid map entry instead of object: {node_type(node)}")
    if len(node) != 2:
        raise DataError(f"Found invalid map entry, expected length 2 but found :{len(node)}")
    return node


def _member_for(node: Node, fields: Sequence[Field]) -> Field:
    """Choose the member of a union: the first of the value's type, or the struct with most names of it."""
    fits = next((field for field in fields if _is_simple(field.schema, node)), None)
    if fits is not None:
        return fits
    best = max(fields, key=lambda field: _shared(field.schema, node))
    if not _shared(best.schema, node):
        raise DataError("Did not find matching oneof field for data")
    return best


def _is_simple(schema: Schema, node: Node) -> bool:
    fits = _FITS.get(schema.type)
    return fits is not None and fits(node)


def _shared(schema: Schema, node: Node) -> int:
    if schema.type is not SchemaType.STRUCT or not isinstance(node, dict):
        return 0
    shared = [field for field in schema.field_list if field.name in node]
    return len(shared) + sum(_shared(field.schema, node[field.name]) for field in shared)


def _is_integer(node: Node) -> bool:
    return type(node) is int


_FITS: Final[dict[SchemaType, Callable[[Node], bool]]] = {
    **dict.fromkeys((SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64), _is_integer),
    **dict.fromkeys((SchemaType.FLOAT32, SchemaType.FLOAT64), lambda node: node_type(node) == "NUMBER"),
    SchemaType.BOOLEAN: lambda node: isinstance(node, bool),
    SchemaType.STRING: lambda node: isinstance(node, str),
    SchemaType.BYTES: lambda node: isinstance(node, str),
    SchemaType.ARRAY: lambda node: isinstance(node, list),
    SchemaType.MAP: lambda node: isinstance(node, (dict, list)),
}
