"""Avro schemas as Connect schemas, each with how fastavro's values are turned into Connect's.

The Avro schema comes expanded: names are full, and every use of a named type holds its definition, unless
that is being defined (which Connect schemas, being values, cannot hold).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from copycat_connect.data import ConnectValue, Field, Schema, SchemaType, Struct, validate_value
from copycat_connect.data.java import round_to_float32
from copycat_connect.data.logical import DATE, DECIMAL, SCALE, TIME, TIMESTAMP
from copycat_connect.errors import DataError

from copycat_avro import names, value_readers
from copycat_avro.anything import Json
from copycat_avro.logical_types import ToAvro, logical_reader
from copycat_avro.names import is_union, scrubbed
from copycat_avro.options import AvroOptions


def _read_default(schema: Schema, json: Json) -> ConnectValue:
    """Return the default value of a schema; None when it has none, or one that does not fit it."""
    try:
        value = _value(schema, json)
        if value is not None:
            validate_value(schema, value)
    except (DataError, TypeError, ValueError, AttributeError, KeyError):
        return None  # as Connect does: a bad default is no reason to refuse the data
    return value


def _value(schema: Schema | None, json: Json) -> ConnectValue:
    if json is None or schema is None:
        return None
    reader = _READERS.get(schema.type)
    plain = json if reader is None else reader(schema, json)
    logical = logical_reader(schema)
    return plain if logical is None else logical(plain)


def _struct(schema: Schema, json: Json) -> ConnectValue:
    if is_union(schema):
        first = schema.fields[0]
        return Struct(schema).put(first, _value(first.schema, json))
    struct = Struct(schema)
    for field in schema.fields:
        value = _value(field.schema, json.get(scrubbed(field.name), json.get(field.name)))
        if value is not None:
            struct.put(field, value)
    struct.validate()
    return struct


def _map(schema: Schema, json: Json) -> ConnectValue:
    pairs = json.items() if isinstance(json, dict) else json
    if isinstance(json, dict):
        return {key: _value(schema.value, item) for key, item in pairs}
    return {_value(schema.key, key): _value(schema.value, item) for key, item in pairs}


_READERS: dict[SchemaType, Callable[[Schema, Json], ConnectValue]] = {
    SchemaType.FLOAT32: lambda _, json: round_to_float32(json),
    SchemaType.FLOAT64: lambda _, json: float(json),
    SchemaType.BYTES: lambda _, json: json.encode("latin-1"),
    SchemaType.ARRAY: lambda schema, json: [_value(schema.value, item) for item in json],
    SchemaType.MAP: _map,
    SchemaType.STRUCT: _struct,
}


_DEFAULT_NAME = f"{names.NAMESPACE}.{names.DEFAULT_NAME}"


def _with_meta_data(avro: Json, schema: Schema, version: int | None, *, meta_data: bool) -> Schema:
    """Return a schema with what its Avro schema says about it.

    Args:
        avro: The Avro schema, an object.
        schema: The Connect schema so far.
        version: Version of the schema within its subject.
        meta_data: False to leave docs and parameters alone.

    Raises:
        DataError: A property is of a wrong type, or contradicts the logical type.
    """
    parameters = dict(schema.parameters or {})
    if meta_data:
        given = avro.get(names.CONNECT_PARAMETERS, {})
        if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
            message = f"Expected JSON object of strings for schema parameters but found: {given}"
            raise DataError(message)
        parameters |= given
    parameters |= {name: str(text) for name, text in avro.items() if name.startswith(names.AVRO_PREFIX)}
    return replace(
        schema,
        name=_name(avro, schema),
        version=_version(avro, schema, version),
        doc=avro.get(names.CONNECT_DOC) if meta_data else None,
        parameters=parameters or None,
    )


def _name(avro: Json, schema: Schema) -> str | None:
    given = avro.get(names.CONNECT_NAME)
    # A decimal in a fixed type has two names: the logical type's wins.
    if given is None and avro["type"] in ("record", "error", "enum", "fixed") and schema.name != DECIMAL:
        given = avro["name"]
    if given is None or given.startswith(_DEFAULT_NAME):
        return schema.name
    if schema.name not in (None, given):
        message = (
            f"Mismatched names: {schema.name} by its logical type differs from {given} in the source schema"
        )
        raise DataError(message)
    return str(given)


def _version(avro: Json, schema: Schema, version: int | None) -> int | None:
    given = avro.get(names.CONNECT_VERSION, version)
    if given is None:
        return schema.version
    if not isinstance(given, int):
        message = f"Invalid Connect version found: {given}"
        raise DataError(message)
    if schema.version not in (None, given):
        message = (
            f"Mismatched versions: {schema.version} by its logical type differs from {given} in the source "
            "schema"
        )
        raise DataError(message)
    return given


_PRIMITIVES: Final[Mapping[str, SchemaType]] = {
    "boolean": SchemaType.BOOLEAN,
    "bytes": SchemaType.BYTES,
    "double": SchemaType.FLOAT64,
    "fixed": SchemaType.BYTES,
    "float": SchemaType.FLOAT32,
    "int": SchemaType.INT32,
    "long": SchemaType.INT64,
    "string": SchemaType.STRING,
}
_NARROW: Final = {"int8": SchemaType.INT8, "int16": SchemaType.INT16}
_LOGICAL: Final = {
    ("int", "date"): DATE,
    ("int", "time-millis"): TIME,
    ("long", "timestamp-millis"): TIMESTAMP,
}
_NAMED: Final = frozenset({"record", "error", "enum", "fixed"})


class _Draft(NamedTuple):
    """A Connect schema without its metadata, and what makes the reader once it has them."""

    schema: Schema
    reader: Callable[[Schema], ToAvro | None]


class ConnectTypes:
    """Translates the parts of one Avro schema."""

    def __init__(self, options: AvroOptions) -> None:
        self._options = options
        self._unions = 0

    def of(
        self, avro: Json, *, version: int | None = None, optional: bool = False, default: Json = None
    ) -> tuple[Schema, ToAvro | None]:
        """Translate a schema; also returns how its values are read, None when they are Connect's already.

        Args:
            avro: The expanded schema.
            version: Version of the schema within its subject, where it has none of its own.
            optional: True when it is a member of a union with null.
            default: Default of the field that has this schema.

        Raises:
            DataError: Connect's data model cannot hold it.
        """
        avro = {"type": avro} if isinstance(avro, str) else avro
        if isinstance(avro, list):
            return self._union(avro)
        if isinstance(avro["type"], (dict, list)):
            return self.of(avro["type"], version=version, optional=optional, default=default)
        draft = self._draft(avro)
        schema = _with_meta_data(avro, draft.schema, version, meta_data=self._options.meta_data)
        default_json = avro.get(names.CONNECT_DEFAULT)
        if default_json is None and default is not None:
            default_json = default
            if self._options.meta_data:
                marked = {**(schema.parameters or {}), names.FIELD_DEFAULT: "true"}
                schema = replace(schema, parameters=marked)
        schema = replace(schema, default=_read_default(schema, default_json), optional=optional)
        read = draft.reader(schema)
        return schema, value_readers.optional(read) if optional else read

    def _draft(self, avro: Json) -> _Draft:
        kind = avro["type"]
        match kind:
            case "record" | "error":
                return self._record(avro)
            case "enum":
                return self._enum(avro)
            case "array":
                return self._array(avro)
            case "map":
                values, read = self.of(avro["values"])
                schema = Schema(SchemaType.MAP, key=Schema(SchemaType.STRING), value=values)
                return _Draft(schema, lambda _: value_readers.text_map(read))
            case "null":
                raise DataError("Standalone null schemas are not supported by this converter")
        if kind not in _PRIMITIVES:
            message = (
                f"The Avro record {kind} contains itself, which Connect schemas here cannot: read the topic "
                "with ByteArrayConverter, or write it with a schema that ends."
            )
            raise DataError(message)
        return _primitive(avro, kind)

    def _record(self, avro: Json) -> _Draft:
        fields: list[Field] = []
        readers: list[tuple[str, ToAvro | None]] = []
        parameters = {names.RECORD_DOC: avro["doc"]} if self._options.meta_data and avro.get("doc") else {}
        for place, each in enumerate(avro["fields"]):
            if self._options.meta_data and each.get("doc"):
                parameters[names.FIELD_DOC + each["name"]] = each["doc"]
            schema, read = self.of(each["type"], default=each.get("default"))
            fields.append(Field(each["name"], place, _with_field_parameters(schema, each, self._options)))
            readers.append((each["name"], read))
        struct = Schema(SchemaType.STRUCT, field_list=tuple(fields), parameters=parameters or None)
        return _Draft(struct, partial(value_readers.record, readers))

    def _enum(self, avro: Json) -> _Draft:
        parameters: dict[str, str] = {}
        simple = names.split(avro["name"])[1]
        if self._options.meta_data:
            found = {
                names.ENUM_DOC + simple: avro.get("doc"),
                names.ENUM_DEFAULT + simple: avro.get("default"),
            }
            parameters |= {name: text for name, text in found.items() if text is not None}
        mark = names.SHARED_ENUM if self._options.sum_types else names.ENUM
        parameters[mark] = avro["name"]
        for place, symbol in enumerate(avro["symbols"]):
            parameters[f"{mark}.{symbol}"] = str(place) if self._options.sum_types else symbol
        return _Draft(Schema(SchemaType.STRING, parameters=parameters), lambda _: None)

    def _array(self, avro: Json) -> _Draft:
        items = avro["items"]
        if not _is_entry(items):
            values, read = self.of(items)
            return _Draft(Schema(SchemaType.ARRAY, value=values), lambda _: value_readers.array(read))
        sides = {each["name"]: each["type"] for each in items["fields"]}
        if sides.keys() != {names.KEY, names.VALUE}:
            raise DataError(
                "Found map encoded as array of key-value pairs, but array elements do not match the "
                "expected format."
            )
        (key, read_key), (value, read_value) = self.of(sides[names.KEY]), self.of(sides[names.VALUE])
        return _Draft(
            Schema(SchemaType.MAP, key=key, value=value),
            lambda _: value_readers.entries(read_key, read_value),
        )

    def _union(self, members: Json) -> tuple[Schema, ToAvro | None]:
        others = [each for each in members if _type_of(each) != "null"]
        if len(others) == 1 and (len(members) == 2 or self._options.flatten_singletons):
            schema, read = self.of(others[0], optional=len(members) == 2)
            return schema, value_readers.named_member(read) if _type_of(others[0]) in _NAMED else read
        name, parameters = names.UNION, None
        if self._options.sum_types:
            name = f"{names.SHARED_UNION_NAME}{self._unions}"
            parameters = {names.SHARED_UNION: name}
            self._unions += 1
        fields: list[Field] = []
        readers: list[value_readers.UnionMember] = []
        for place, member in enumerate(members):
            if _type_of(member) == "null":
                continue
            schema, read = self.of(member, optional=True)
            fields.append(Field(self._member_name(member, place), len(fields), schema))
            readers.append(value_readers.UnionMember(_type_of(member), _full_name(member), read))
        if len({each.name for each in fields}) < len(fields):
            raise DataError("Multiple union schemas map to the Connect union field name")
        union = Schema(
            SchemaType.STRUCT, name=name, parameters=parameters, field_list=tuple(fields),
            optional=len(others) < len(members),
        )  # fmt: skip
        return union, value_readers.union(readers, union)

    def _member_name(self, member: Json, place: int) -> str:
        if self._options.sum_types:
            return f"{names.SHARED_UNION_FIELD}{place}"
        full_name = _full_name(member)
        if full_name is None:
            return _type_of(member)
        return full_name if self._options.enhanced else names.split(full_name)[1]


def _primitive(avro: Json, kind: str) -> _Draft:
    logical = avro.get("logicalType")
    parameters: dict[str, str] = {}
    schema = Schema(_PRIMITIVES[kind])
    if (kind, logical) in _LOGICAL:
        schema = replace(schema, name=_LOGICAL[kind, logical], version=1)
    elif logical == "decimal" and schema.type is SchemaType.BYTES:
        schema = replace(schema, name=DECIMAL, version=1)
        parameters[SCALE] = str(avro.get("scale", 0))
        precision = avro.get("precision", names.DEFAULT_PRECISION)
        if precision != names.DEFAULT_PRECISION:
            parameters[names.PRECISION] = str(precision)
    elif kind == "int" and logical is None and names.CONNECT_TYPE in avro:
        schema = replace(schema, type=_NARROW.get(avro[names.CONNECT_TYPE], SchemaType.INT32))
    if kind == "fixed":
        parameters[names.FIXED_SIZE] = str(avro["size"])
    return _Draft(replace(schema, parameters=parameters or None), _primitive_reader)


def _primitive_reader(schema: Schema) -> ToAvro | None:
    match schema.type:
        case SchemaType.INT8:
            return value_readers.low_bits(8)
        case SchemaType.INT16:
            return value_readers.low_bits(16)
    return logical_reader(schema)


def _with_field_parameters(schema: Schema, field: Json, options: AvroOptions) -> Schema:
    given = field.get(names.CONNECT_PARAMETERS)
    if not options.meta_data or not isinstance(given, dict):
        return schema
    return replace(
        schema, parameters={**(schema.parameters or {}), **{key: str(text) for key, text in given.items()}}
    )


def _is_entry(items: Json) -> bool:
    return (
        isinstance(items, dict)
        and items["type"] == "record"
        and (
            items["name"] == f"{names.NAMESPACE}.{names.MAP_ENTRY}"
            or items.get(names.CONNECT_INTERNAL_TYPE) == names.MAP_ENTRY
        )
    )


def _type_of(avro: Json) -> str:
    return str(avro["type"]) if isinstance(avro, dict) else str(avro)


def _full_name(avro: Json) -> str | None:
    return str(avro["name"]) if isinstance(avro, dict) and avro["type"] in _NAMED else None
