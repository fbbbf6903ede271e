"""Connect schemas as Avro schemas, each with how its values are turned into what fastavro writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from copycat_connect.data import ConnectValue, Schema, SchemaType, Struct
from copycat_connect.data.logical import DECIMAL, decimal_scale
from copycat_connect.errors import DataError

from copycat_avro import anything, names
from copycat_avro.anything import AvroValue, Json
from copycat_avro.logical_types import AVRO_NAMES, ToAvro, logical_writer
from copycat_avro.names import KEY, VALUE
from copycat_avro.options import AvroOptions
from copycat_avro.written_defaults import default_json, has_string_keys

_NARROW = {SchemaType.INT8: "int8", SchemaType.INT16: "int16"}


def _properties(schema: Schema, options: AvroOptions) -> dict[str, Json]:
    """Return the properties of the Avro schema that stands for a Connect schema."""
    found: dict[str, Json] = {}
    parameters = schema.parameters or {}
    if schema.name == DECIMAL:
        found["scale"] = decimal_scale(schema)
        found["precision"] = int(parameters.get(names.PRECISION, names.DEFAULT_PRECISION))
    if options.meta_data:
        found |= _meta_data(schema, options)
    logical = AVRO_NAMES.get(schema.name or "")
    if logical is not None:
        found["logicalType"] = logical
    return found | {name: text for name, text in parameters.items() if name.startswith(names.AVRO_PREFIX)}


def _meta_data(schema: Schema, options: AvroOptions) -> dict[str, Json]:
    parameters = dict(schema.parameters or {})
    from_field = parameters.pop(names.FIELD_DEFAULT, None) is not None
    default = None
    if schema.default is not None and not from_field:
        default = default_json(schema, schema.default, options)
    candidates = {
        names.CONNECT_DOC: schema.doc,
        names.CONNECT_VERSION: schema.version,
        names.CONNECT_PARAMETERS: parameters or None,
        names.CONNECT_DEFAULT: default,
        names.CONNECT_NAME: schema.name,
        names.CONNECT_TYPE: _NARROW.get(schema.type),
    }
    return {name: value for name, value in candidates.items() if value is not None}


def optional(write: ToAvro | None, branch: str | None) -> ToAvro | None:
    """Let null through; a named type is named, which spares fastavro trying all."""
    if branch is None:
        return None if write is None else lambda value: None if value is None else write(value)
    if write is None:
        return lambda value: None if value is None else (branch, value)
    return lambda value: None if value is None else (branch, write(value))


def array(write: ToAvro | None) -> ToAvro | None:
    """Return a writer of lists that writes each item."""
    return None if write is None else lambda items: [write(item) for item in items]


def _text_map(write: ToAvro | None) -> ToAvro | None:
    """Write each value of a map."""
    if write is None:
        return None
    return lambda value: {key: write(item) for key, item in value.items()}


def _entries(write_key: ToAvro | None, write_value: ToAvro | None) -> ToAvro:
    """Write a map as a list of entries."""
    key_of, value_of = write_key or _as_is, write_value or _as_is
    return lambda value: [{KEY: key_of(key), VALUE: value_of(item)} for key, item in value.items()]


def record(schema: Schema, fields: Sequence[tuple[str, ToAvro | None]], *, use_defaults: bool) -> ToAvro:
    """Write a struct; an unset field is its default where that is wanted."""
    defaults = [field.schema.default if use_defaults else None for field in schema.fields]
    names = [name for name, _ in fields]
    if not any(write for _, write in fields) and all(default is None for default in defaults):
        return lambda struct: dict(zip(names, struct.values, strict=True))
    steps = [
        (name, write or _as_is, default) for (name, write), default in zip(fields, defaults, strict=True)
    ]

    def write_struct(struct: Struct) -> AvroValue:
        return {
            name: write(default if value is None else value)
            for (name, write, default), value in zip(steps, struct.values, strict=True)
        }

    return write_struct


def union(branches: Sequence[tuple[str, ToAvro | None]]) -> ToAvro:
    """Write the one field that is set of a struct that stands for a union."""
    steps = [(branch, write or _as_is) for branch, write in branches]

    def write_union(struct: Struct | None) -> AvroValue:
        if struct is None:
            return None
        for (branch, write), value in zip(steps, struct.values, strict=True):
            if value is not None:
                return branch, write(value)
        raise DataError(
            "A struct that stands for a union has no field set: set the one that holds the value."
        )

    return write_union


def _as_is(value: ConnectValue) -> AvroValue:
    return value


_PRIMITIVES = {
    SchemaType.INT8: "int",
    SchemaType.INT16: "int",
    SchemaType.INT32: "int",
    SchemaType.INT64: "long",
    SchemaType.FLOAT32: "float",
    SchemaType.FLOAT64: "double",
    SchemaType.BOOLEAN: "boolean",
    SchemaType.STRING: "string",
    SchemaType.BYTES: "bytes",
}


@dataclass(frozen=True, slots=True)
class AvroType:
    """What a Connect schema is in Avro."""

    json: Json
    """The Avro schema."""
    write: ToAvro | None
    """Turns values into fastavro's; None when they are what it takes."""
    branch: str
    """What fastavro calls it in a union."""
    is_named: bool = False
    """True for records, enums and fixed."""


class AvroTypes:
    """Translates the parts of one Connect schema; remembers the names given, since Avro wants each once."""

    def __init__(self, options: AvroOptions) -> None:
        self._options = options
        self._named: dict[str, tuple[Schema | None, AvroType]] = {}
        self._unnamed: dict[Schema, str] = {}

    def of(self, schema: Schema | None, space: str = "") -> AvroType:
        """Translate a schema that stands inside a namespace.

        Raises:
            DataError: Avro cannot say it.
        """
        if schema is None:
            json = anything.SCHEMA
            return self._once(anything.FULL_NAME, space, None, lambda: (json, anything.write))
        if names.is_union(schema):
            return self._union(schema, space)
        required = self._required(schema, space)
        if not schema.optional:
            return required
        # A default must be of a union's first type.
        null_last = schema.default is not None and schema.type is not SchemaType.STRUCT
        json = [required.json, "null"] if null_last else ["null", required.json]
        branch = required.branch if required.is_named else None
        return AvroType(json, optional(required.write, branch), required.branch)

    def _required(self, schema: Schema, space: str) -> AvroType:
        match schema.type:
            case SchemaType.STRUCT:
                return self._record(schema, space)
            case SchemaType.ARRAY:
                items = self.of(schema.value, space)
                json = {"type": "array", "items": items.json, **self._properties(schema)}
                return AvroType(json, array(items.write), "array")
            case SchemaType.MAP:
                return self._map(schema, space)
        if names.is_fixed(schema):
            return self._fixed(schema, space)
        marked = names.enum_parameter(schema)
        if marked is not None and (self._options.enhanced or self._options.sum_types):
            return self._enum(schema, marked, space)
        primitive = _PRIMITIVES[schema.type]
        more = self._properties(schema)
        writer = logical_writer(schema) or (bytes if schema.type is SchemaType.BYTES else None)
        return AvroType({"type": primitive, **more} if more else primitive, writer, primitive)

    def _record(self, schema: Schema, space: str) -> AvroType:
        full_name = self._full_name(schema)
        inside, name = names.split(full_name)
        parameters = schema.parameters or {}

        def make() -> tuple[Json, ToAvro]:
            types = [self.of(field.schema, inside) for field in schema.fields]
            fields = [self._field(schema, place, each) for place, each in enumerate(types)]
            written = [(field["name"], each.write) for field, each in zip(fields, types, strict=True)]
            json = {
                "type": "record",
                **_named(name, inside, space, parameters.get(names.RECORD_DOC)),
                "fields": fields,
                **self._properties(schema),
            }
            return json, record(schema, written, use_defaults=not self._options.ignore_default)

        return self._once(full_name, space, schema, make)

    def _field(self, schema: Schema, place: int, type: AvroType) -> dict[str, Json]:
        field = schema.fields[place]
        found: dict[str, Json] = {
            "name": names.avro_name(field.name, scrub=self._options.scrub),
            "type": type.json,
        }
        doc = (schema.parameters or {}).get(names.FIELD_DOC + field.name)
        if doc is not None:
            found["doc"] = doc
        if field.schema.default is None:
            return found | ({"default": None} if field.schema.optional else {})
        if _default_fits(field.schema, self._options):
            found["default"] = default_json(field.schema, field.schema.default, self._options)
        return found

    def _map(self, schema: Schema, space: str) -> AvroType:
        more = self._properties(schema)
        if has_string_keys(schema, self._options):
            values = self.of(schema.value, space)
            json = {"type": "map", "values": values.json, **more}
            return AvroType(json, _text_map(values.write), "map")
        named = schema.name is not None
        full_name = self._full_name(schema) if named else f"{names.NAMESPACE}.{names.MAP_ENTRY}"
        inside, name = names.split(full_name)

        def make() -> tuple[Json, ToAvro]:
            sides = {names.KEY: schema.key, names.VALUE: schema.value}
            types = {side: self.of(each, inside) for side, each in sides.items()}
            fields = [
                {"name": side, "type": each.json, **_null_default(sides[side])}
                for side, each in types.items()
            ]
            json = {"type": "record", **_named(name, inside, space), "fields": fields}
            internal = {names.CONNECT_INTERNAL_TYPE: names.MAP_ENTRY} if named else {}
            return json | internal, _entries(*(each.write for each in types.values()))

        entry = self._once(full_name, space, schema, make)
        return AvroType({"type": "array", "items": entry.json, **more}, entry.write, "array")

    def _fixed(self, schema: Schema, space: str) -> AvroType:
        full_name = self._full_name(schema)
        inside, name = names.split(full_name)
        size = int((schema.parameters or {})[names.FIXED_SIZE])

        def make() -> tuple[Json, ToAvro]:
            json = {"type": "fixed", **_named(name, inside, space), "size": size, **self._properties(schema)}
            return json, logical_writer(schema) or bytes

        return self._once(full_name, space, schema, make)

    def _enum(self, schema: Schema, marked: str, space: str) -> AvroType:
        parameters = schema.parameters or {}
        full_name = names.full_avro_name(parameters[marked], scrub=self._options.scrub)
        inside, name = names.split(full_name)
        symbols = [key[len(marked) + 1 :] for key in parameters if key.startswith(marked + ".")]
        default = parameters.get(names.ENUM_DEFAULT + name)

        def make() -> tuple[Json, ToAvro | None]:
            doc = parameters.get(names.ENUM_DOC + name)
            json = {"type": "enum", **_named(name, inside, space, doc), "symbols": symbols}
            json |= {} if default is None else {"default": default}
            return json | self._properties(schema), None

        return self._once(full_name, space, schema, make)

    def _union(self, schema: Schema, space: str) -> AvroType:
        members = [self._required(replace(each.schema, optional=False), space) for each in schema.fields]
        json = [*(["null"] if schema.optional else []), *(each.json for each in members)]
        branches = [(each.branch, each.write) for each in members]
        return AvroType(json, union(branches), "union")

    def _once(
        self,
        full_name: str,
        space: str,
        schema: Schema | None,
        make: Callable[[], tuple[Json, ToAvro | None]],
    ) -> AvroType:
        known = self._named.get(full_name)
        if known is None:
            json, write = make()
            found = AvroType(json, write, full_name, is_named=True)
            self._named[full_name] = (schema, found)
            return found
        first, found = known
        if not _same_type(first, schema):
            message = (
                f"Two different parts of a schema are called {full_name}, which Avro does not allow: name "
                "them apart, e.g. with SetSchemaMetadata."
            )
            raise DataError(message)
        inside, name = names.split(full_name)
        return replace(found, json=name if inside == space else full_name)

    def _full_name(self, schema: Schema) -> str:
        if schema.name is not None:
            return names.full_avro_name(schema.name, scrub=self._options.scrub)
        number = str(len(self._unnamed) + 1) if self._unnamed else ""
        # Equal structs without a name are one type.
        name = f"{names.NAMESPACE}.{names.DEFAULT_NAME}{number}"
        return self._unnamed.setdefault(replace(schema, optional=False), name)

    def _properties(self, schema: Schema) -> dict[str, Json]:
        return _properties(schema, self._options)


def _named(name: str, namespace: str, space: str, doc: str | None = None) -> dict[str, Json]:
    found = {"name": name} | ({} if namespace == space else {"namespace": namespace})
    return found if doc is None else {**found, "doc": doc}


def _null_default(schema: Schema | None) -> dict[str, Json]:
    return {"default": None} if schema is not None and schema.optional and schema.default is None else {}


def _default_fits(schema: Schema, options: AvroOptions) -> bool:
    """Return whether Avro takes the default of a field: it must be of the first type of a union."""
    if schema.type is SchemaType.MAP:
        return has_string_keys(schema, options)
    return schema.type is not SchemaType.STRUCT or not schema.optional


def _same_type(one: Schema | None, other: Schema | None) -> bool:
    if one is None or other is None:
        return one is other
    return (one.type, one.field_list, one.key, one.value) == (
        other.type, other.field_list, other.key, other.value
    )  # fmt: skip
