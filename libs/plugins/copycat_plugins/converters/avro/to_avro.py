"""Connect schemas as Avro schemas, each with how its values are turned into what fastavro writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from copycat_connect.data import Schema, SchemaType
from copycat_connect.errors import DataError

from copycat_plugins.converters.avro import anything, names, value_writers
from copycat_plugins.converters.avro.anything import Json
from copycat_plugins.converters.avro.logical_types import ToAvro, logical_writer
from copycat_plugins.converters.avro.options import AvroOptions
from copycat_plugins.converters.avro.properties import properties
from copycat_plugins.converters.avro.written_defaults import default_json, has_string_keys

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
        return AvroType(json, value_writers.optional(required.write, branch), required.branch)

    def _required(self, schema: Schema, space: str) -> AvroType:
        match schema.type:
            case SchemaType.STRUCT:
                return self._record(schema, space)
            case SchemaType.ARRAY:
                items = self.of(schema.value, space)
                json = {"type": "array", "items": items.json, **self._properties(schema)}
                return AvroType(json, value_writers.array(items.write), "array")
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
            return json, value_writers.record(schema, written, use_defaults=not self._options.ignore_default)

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
            return AvroType(json, value_writers.text_map(values.write), "map")
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
            return json | internal, value_writers.entries(*(each.write for each in types.values()))

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
        return AvroType(json, value_writers.union(branches), "union")

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
        return properties(schema, self._options)


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
