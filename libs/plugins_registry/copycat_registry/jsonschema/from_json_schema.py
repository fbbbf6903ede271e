"""JSON Schemas as Connect schemas, and what `$ref` in one stands for, in it or in a schema it refers to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import unquote

from copycat_avro.schema_text import SchemaText
from copycat_connect.data import Field, Schema, SchemaType, validate_value
from copycat_connect.errors import DataError

from copycat_registry.jsonschema import names
from copycat_registry.jsonschema.plugin import JsonSchemaOptions
from copycat_registry.jsonschema.to_json_schema import Json
from copycat_registry.jsonschema.values import JsonSchemaReader

_NUMBERS: Final[Mapping[str | None, SchemaType]] = {
    "int8": SchemaType.INT8,
    "int16": SchemaType.INT16,
    "int32": SchemaType.INT32,
    "int64": SchemaType.INT64,
    "float32": SchemaType.FLOAT32,
    "float64": SchemaType.FLOAT64,
    "bytes": SchemaType.BYTES,
}


class ConnectSchemas:
    """Translates one registered JSON Schema."""

    def __init__(self, options: JsonSchemaOptions, pointers: Pointers) -> None:
        self._options = options
        self._pointers = pointers
        self._reader = JsonSchemaReader(replace_nulls=True)
        self._unions = 0
        self._inside: list[str] = []
        self._kinds: dict[str, Callable[[Json], Schema]] = {
            "integer": lambda json: Schema(_NUMBERS.get(json.get(names.CONNECT_TYPE), SchemaType.INT64)),
            "number": lambda json: Schema(_NUMBERS.get(json.get(names.CONNECT_TYPE), SchemaType.FLOAT64)),
            "boolean": lambda _: Schema(SchemaType.BOOLEAN),
            "string": lambda json: Schema(
                SchemaType.BYTES if json.get(names.CONNECT_TYPE) == "bytes" else SchemaType.STRING
            ),
            "array": self._array,
            "object": self._object,
        }

    def of(self, json: Json, *, version: int | None = None, optional: bool = False) -> Schema:
        """Translate a schema.

        Args:
            json: The schema.
            version: Version of the schema within its subject, where it has none of its own.
            optional: True when null may stand in its place.

        Raises:
            DataError: Connect's data model cannot hold it.
        """
        if not isinstance(json, dict) or not json.keys() - {names.CONNECT_INDEX}:
            raise _unsupported(json, "anything may stand there")
        if "$ref" in json:
            return self._referred(json["$ref"], version, optional=optional)
        if isinstance(json.get("type"), list):
            members = [{**json, "type": each} for each in json["type"]]
            return self._union(members, version, optional=optional)
        for combination in ("oneOf", "anyOf"):
            if combination in json:
                return self._union(json[combination], version, optional=optional)
        if "allOf" in json:
            return self.of(self._merged(json), version=version, optional=optional)
        return self._with_meta_data(self._physical(json), json, version, optional=optional)

    def _physical(self, json: Json) -> Schema:
        if "const" in json:
            return self._enum([json["const"]])
        if "enum" in json:
            return self._enum(json["enum"])
        kind = json.get("type") or (
            "object" if "properties" in json else "array" if "items" in json else None
        )
        translate = self._kinds.get(kind or "")
        if translate is None:
            raise _unsupported(json, f"its type is {kind}")
        return translate(json)

    def _array(self, json: Json) -> Schema:
        items = json.get("items")
        if not isinstance(items, dict):
            raise DataError("Array schema did not specify the items type")
        if json.get(names.CONNECT_TYPE) == "map" and "properties" in items:
            entry = items["properties"]
            return Schema(SchemaType.MAP, key=self.of(entry[names.KEY]), value=self.of(entry[names.VALUE]))
        return Schema(SchemaType.ARRAY, value=self.of(items))

    def _object(self, json: Json) -> Schema:
        if json.get(names.CONNECT_TYPE) == "map":
            return Schema(
                SchemaType.MAP, key=Schema(SchemaType.STRING), value=self.of(json["additionalProperties"])
            )
        required = json.get("required", ())
        properties = sorted(
            enumerate(json.get("properties", {}).items()),
            key=lambda each: each[1][1].get(names.CONNECT_INDEX, each[0]),
        )
        fields = [
            Field(name, place, self.of(
                each, optional=self._options.optional_unless_required and name not in required
            ))
            for place, (_, (name, each)) in enumerate(properties)
        ]  # fmt: skip
        return Schema(SchemaType.STRUCT, field_list=tuple(fields))

    def _enum(self, values: list[Json]) -> Schema:
        mark = names.SHARED_ENUM if self._options.sum_types else names.ENUM
        parameters = {mark: ""}
        for place, value in enumerate(values):
            symbol = names.NULL_SYMBOL if value is None else str(value)
            parameters[f"{mark}.{symbol}"] = str(place) if self._options.sum_types else symbol
        return Schema(SchemaType.STRING, parameters=parameters)

    def _union(self, members: list[Json], version: int | None, *, optional: bool) -> Schema:
        others = [each for each in members if each.get("type") != "null"]
        has_null = len(others) < len(members)
        if len(others) == 1 and (has_null or self._options.flatten_singletons):
            return self.of(others[0], version=version, optional=optional or has_null)
        name, prefix, parameters = names.ONE_OF, f"{names.ONE_OF}.field.", None
        if self._options.sum_types:
            name, prefix = f"{names.SHARED_UNION_NAME}{self._unions}", f"{names.SHARED_UNION_NAME}field_"
            parameters = {names.SHARED_UNION: name}
            self._unions += 1
        fields = tuple(
            Field(f"{prefix}{place}", place, self.of(each, optional=True))
            for place, each in enumerate(others)
        )
        return Schema(
            SchemaType.STRUCT, optional=optional or has_null, name=name, version=version,
            parameters=parameters, field_list=fields,
        )  # fmt: skip

    def _referred(self, pointer: str, version: int | None, *, optional: bool) -> Schema:
        if pointer in self._inside:
            raise DataError(
                f"The JSON Schema at {pointer} contains itself, which Connect schemas here cannot: read the "
                "topic with JsonConverter and schemas.enable=false behind a transformation, or "
                "ByteArrayConverter."
            )
        self._inside.append(pointer)
        found = self.of(self._pointers.find(pointer), version=version, optional=optional)
        self._inside.pop()
        return found

    def _merged(self, json: Json) -> Json:
        """Return what all parts together say: their properties, or the words of all of them."""
        merged = {key: value for key, value in json.items() if key != "allOf"}
        for part in json["allOf"]:
            plain = self._pointers.find(part["$ref"]) if "$ref" in part else part
            plain = self._merged(plain) if "allOf" in plain else plain
            properties = {**merged.get("properties", {}), **plain.get("properties", {})}
            required = [*merged.get("required", ()), *plain.get("required", ())]
            merged = {**plain, **merged}
            if properties:
                merged |= {"properties": properties, "required": required}
        return merged

    def _with_meta_data(self, schema: Schema, json: Json, version: int | None, *, optional: bool) -> Schema:
        given = json.get(names.CONNECT_PARAMETERS, {})
        parameters = {**(schema.parameters or {}), **given}
        found = replace(
            schema,
            name=json.get("title"),
            version=json.get(names.CONNECT_VERSION, version),
            doc=json.get("description"),
            parameters=parameters or None,
            optional=optional,
        )
        if json.get("default") is None:
            return found
        default = self._reader.reader(found)(json["default"])
        validate_value(found, default)
        return replace(found, default=default)


def load(text: SchemaText) -> Json:
    """Parse a registered schema.

    Raises:
        DataError: It is no JSON.
    """
    try:
        return json.loads(text.text)
    except ValueError as error:
        raise DataError(f"The JSON Schema is not valid: {error}. Look at it in the registry.") from error


class Pointers:
    """Finds parts of one registered schema and of those it refers to."""

    def __init__(self, text: SchemaText) -> None:
        self._documents: dict[str, Json] = {"": load(text)}
        self._add(text)

    @property
    def documents(self) -> dict[str, Json]:
        """The schemas by the names they are referred to by; the schema itself has the empty name."""
        return self._documents

    def find(self, pointer: str) -> Json:
        """Return what a pointer stands for.

        Raises:
            DataError: There is nothing.
        """
        document, _, path = pointer.partition("#")
        found = self._documents.get(document)
        for step in filter(None, path.split("/")):
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, dict) else None
        if found is None:
            raise DataError(
                f"The JSON Schema refers to {pointer}, which is not there: register it with its references."
            )
        return found

    def _add(self, text: SchemaText) -> None:
        for name, reference in text.references:
            self._documents[name] = load(reference)
            self._add(reference)


def _unsupported(json: Json, why: str) -> DataError:
    shape = ", ".join(sorted(json)) if isinstance(json, dict) else str(json)
    message = (
        f"Connect has no type for a part of the JSON Schema ({shape or 'empty'}): {why}. Give it a type, or "
        "read the topic with JsonConverter or ByteArrayConverter."
    )
    return DataError(message)
