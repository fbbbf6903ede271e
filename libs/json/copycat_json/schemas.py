"""Schemas as the JSON that JsonConverter puts into its envelope."""

from __future__ import annotations

from collections.abc import Callable

from copycat_connect.data import ConnectValue, Schema, SchemaBuilder, SchemaType
from copycat_connect.errors import DataError

from copycat_json.node import Node

_NAMES = {
    **{type_: type_.value for type_ in SchemaType},
    SchemaType.FLOAT32: "float",
    SchemaType.FLOAT64: "double",
}
_TYPES = {name: type_ for type_, name in _NAMES.items()}

ToNode = Callable[[Schema, ConnectValue], Node]
FromNode = Callable[[Schema, Node], ConnectValue]


def schema_to_node(schema: Schema | None, value_to_node: ToNode) -> Node:
    """Return a schema as a node; keys in the order Kafka Connect writes them.

    Args:
        schema: The schema; None for schemaless data.
        value_to_node: Writes defaults.
    """
    if schema is None:
        return None
    node: dict[str, Node] = {"type": _NAMES[schema.type]}
    match schema.type:
        case SchemaType.ARRAY:
            node["items"] = schema_to_node(schema.value, value_to_node)
        case SchemaType.MAP:
            node["keys"] = schema_to_node(schema.key, value_to_node)
            node["values"] = schema_to_node(schema.value, value_to_node)
        case SchemaType.STRUCT:
            node["fields"] = [
                {**schema_to_node(field.schema, value_to_node), "field": field.name}
                for field in schema.field_list
            ]
        case _:
            pass
    node["optional"] = schema.optional
    metadata = {
        "name": schema.name,
        "version": schema.version,
        "doc": schema.doc,
        "parameters": None if schema.parameters is None else dict(schema.parameters),
    }
    node |= {key: item for key, item in metadata.items() if item is not None}
    if schema.default is not None:
        node["default"] = value_to_node(schema, schema.default)
    return node


def schema_from_node(node: Node, value_from_node: FromNode) -> Schema | None:
    """Return the schema that a node describes; None for null.

    Args:
        node: The node.
        value_from_node: Reads defaults.

    Raises:
        DataError: It describes none.
    """
    if node is None:
        return None
    name = node.get("type") if isinstance(node, dict) else None
    if not isinstance(name, str):
        raise DataError("Schema must contain 'type' field")
    builder = _start(name, node, value_from_node)
    builder = builder.optional() if node.get("optional") is True else builder.required()
    _add_metadata(builder, node)
    if "default" in node:
        default = value_from_node(builder.build(), node["default"])
        builder = builder.default_value(default)
    return builder.build()


def _start(name: str, node: dict[str, Node], value_from_node: FromNode) -> SchemaBuilder:
    match _TYPES.get(name):
        case None:
            message = f"Unknown schema type: {name}"
            raise DataError(message)
        case SchemaType.ARRAY:
            items = _child(node, "items", "Array schema did not specify the element type")
            return SchemaBuilder.array(schema_from_node(items, value_from_node))
        case SchemaType.MAP:
            keys = _child(node, "keys", "Map schema did not specify the key type")
            values = _child(node, "values", "Map schema did not specify the value type")
            return SchemaBuilder.map(
                schema_from_node(keys, value_from_node), schema_from_node(values, value_from_node)
            )
        case SchemaType.STRUCT:
            return _start_struct(node, value_from_node)
        case type_:
            return SchemaBuilder(type_)


def _start_struct(node: dict[str, Node], value_from_node: FromNode) -> SchemaBuilder:
    fields = node.get("fields")
    if not isinstance(fields, list):
        raise DataError('Struct schema\'s "fields" argument is not an array.')
    builder = SchemaBuilder.struct()
    for field in fields:
        name = field.get("field") if isinstance(field, dict) else None
        if not isinstance(name, str):
            raise DataError("Struct schema's field name not specified properly")
        builder.field(name, schema_from_node(field, value_from_node))
    return builder


def _child(node: dict[str, Node], key: str, problem: str) -> Node:
    child = node.get(key)
    if child is None:
        raise DataError(problem)
    return child


def _add_metadata(builder: SchemaBuilder, node: dict[str, Node]) -> None:
    name, version, doc = node.get("name"), node.get("version"), node.get("doc")
    if isinstance(name, str):
        builder.name(name)
    if isinstance(version, int) and not isinstance(version, bool):
        builder.version(version)
    if isinstance(doc, str):
        builder.doc(doc)
    parameters = node.get("parameters")
    if isinstance(parameters, dict):
        for key, text in parameters.items():
            if not isinstance(text, str):
                raise DataError("Schema parameters must have string values.")
            builder.parameter(key, text)
