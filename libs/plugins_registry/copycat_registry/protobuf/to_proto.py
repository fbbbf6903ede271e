"""Connect schemas as the text of a .proto file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Final

from copycat_connect.data import Field, Schema, SchemaType
from copycat_connect.data.logical import DECIMAL, SCALE
from copycat_connect.errors import DataError

from copycat_registry.protobuf import names
from copycat_registry.protobuf.plugin import ProtobufOptions

_INDENT: Final = "  "
_NARROW: Final = {SchemaType.INT8: "int8", SchemaType.INT16: "int16"}


class ProtoText:
    """Writes the file of one Connect schema."""

    def __init__(self, options: ProtobufOptions) -> None:
        self._options = options
        self._imports: dict[str, None] = {}
        self._unnamed = 0

    def file(self, schema: Schema) -> tuple[str, str]:
        """Return the text of the file, and the full name of the message in it.

        Raises:
            DataError: Protobuf cannot say it.
        """
        package, name, body = self._root(schema)
        head = ['syntax = "proto3";', *([f"package {package};"] if package else [])]
        imports = [f'import "{each}";' for each in sorted(self._imports)]
        parts = [*head, "", *([*imports, ""] if imports else []), *body, ""]
        return "\n".join(parts), f"{package}.{name}" if package else name

    def _root(self, schema: Schema) -> tuple[str, str, list[str]]:
        if schema.type is SchemaType.STRUCT and not names.is_union(schema):
            package, _, name = self._full_name(schema).rpartition(".")
            return package, name, list(self._message(name, schema))
        if schema.type in names.SCALARS and schema.name not in names.LOGICAL_MESSAGES:
            scalar = names.scalar_of(schema)
            wrapper = names.wrapper_of(scalar)
            return names.WRAPPER_PACKAGE, wrapper, [f"message {wrapper} {{", f"  {scalar} value = 1;", "}"]
        what = schema.name or str(schema.type)
        raise DataError(
            f"A Protobuf record is a struct or a plain value, and not {what}: put it into a struct, e.g. "
            "with HoistField."
        )

    def _message(self, name: str, schema: Schema) -> Iterator[str]:
        inner: dict[str, list[str]] = {}
        lines: list[str] = []
        numbers = count(1)
        for field in schema.fields:
            if names.is_union(field.schema):
                lines += self._oneof(field, numbers, inner)
            else:
                lines.append(self._field(field, _tag(field, numbers), inner))
        yield f"message {name} {{"
        yield from (_INDENT + line for line in lines)
        for body in inner.values():
            yield ""
            yield from (_INDENT + line for line in body)
        yield "}"

    def _oneof(self, union: Field, numbers: Iterator[int], inner: dict[str, list[str]]) -> Iterator[str]:
        name = (union.schema.name or "").removeprefix(names.UNION).lstrip(".") or union.name
        yield f"oneof {names.proto_name(name, scrub=self._options.scrub)} {{"
        for member in union.schema.fields:
            yield _INDENT + self._field(member, _tag(member, numbers), inner, in_oneof=True)
        yield "}"

    def _field(self, field: Field, tag: str, inner: dict[str, list[str]], *, in_oneof: bool = False) -> str:
        schema, label = field.schema, ""
        name = names.proto_name(field.name, scrub=self._options.scrub)
        if schema.type in (SchemaType.ARRAY, SchemaType.MAP):
            label = "repeated "
        elif self._options.optional_for_nullables and schema.optional and not in_oneof:
            label = "optional "
        if schema.type is SchemaType.ARRAY:
            schema = self._items(field)
        kind, meta = self._type(schema, name, inner, in_oneof=in_oneof)
        return f"{label}{kind} {name} = {tag}{self._meta(meta)};"

    def _items(self, field: Field) -> Schema:
        items = field.schema.value
        if items is None or items.type is SchemaType.ARRAY:
            raise DataError(
                f"Array cannot be nested: field {field.name} is one in Protobuf only with a struct between."
            )
        return items

    def _type(
        self, schema: Schema, field: str, inner: dict[str, list[str]], *, in_oneof: bool
    ) -> tuple[str, dict[str, str]]:
        logical = names.LOGICAL_MESSAGES.get(schema.name or "")
        if logical is not None:
            self._imports[names.LOGICAL_FILES[schema.name or ""]] = None
            return logical, _decimal_meta(schema)
        match schema.type:
            case SchemaType.STRUCT:
                return self._inner_message(schema, field, inner), {}
            case SchemaType.MAP:
                return self._entry(schema, inner), {}
        if names.ENUM in (schema.parameters or {}):
            return self._enum(schema, inner), {}
        scalar = names.scalar_of(schema)
        if self._options.wrapper_for_nullables and schema.optional and not in_oneof:
            self._imports[names.WRAPPER_FILE] = None
            scalar = f"{names.WRAPPER_PACKAGE}.{names.wrapper_of(scalar)}"
        narrow = _NARROW.get(schema.type)
        return scalar, {} if narrow is None else {names.CONNECT_TYPE: narrow}

    def _inner_message(self, schema: Schema, field: str, inner: dict[str, list[str]]) -> str:
        name = self._full_name(schema).rpartition(".")[2]
        name += "Message" if name == field else ""
        self._once(inner, name, list(self._message(name, schema)))
        return name

    def _entry(self, schema: Schema, inner: dict[str, list[str]]) -> str:
        name = self._full_name(schema).rpartition(".")[2] + names.ENTRY
        within: dict[str, list[str]] = {}
        lines = []
        for number, (side, each) in enumerate(((names.KEY, schema.key), (names.VALUE, schema.value)), 1):
            if each is not None:
                lines.append(self._field(Field(side, number - 1, each), str(number), within))
        body = [line for part in within.values() for line in ("", *part)]
        self._once(inner, name, [f"message {name} {{", *(_INDENT + line for line in (*lines, *body)), "}"])
        return name

    def _enum(self, schema: Schema, inner: dict[str, list[str]]) -> str:
        parameters = schema.parameters or {}
        name = names.proto_name(parameters[names.ENUM], scrub=self._options.scrub)
        prefix = names.ENUM + "."
        values = [
            (key.removeprefix(prefix), text) for key, text in parameters.items() if key.startswith(prefix)
        ]
        # A proto3 enum begins with zero.
        ordered = sorted(values, key=lambda value: (value[1] != "0", int(value[1])))
        self._once(
            inner, name, [f"enum {name} {{", *(f"  {symbol} = {number};" for symbol, number in ordered), "}"]
        )
        return name

    def _once(self, inner: dict[str, list[str]], name: str, body: list[str]) -> None:
        if inner.setdefault(name, body) != body:
            raise DataError(
                f"Two different parts of a schema are called {name}, which Protobuf does not allow: name "
                "them apart, e.g. with SetSchemaMetadata."
            )

    def _meta(self, parameters: dict[str, str]) -> str:
        if not parameters:
            return ""
        self._imports[names.META_FILE] = None
        pairs = ", ".join(f'{{ key: "{key}", value: "{text}" }}' for key, text in parameters.items())
        return f" [(confluent.field_meta) = {{ params: [{pairs}] }}]"

    def _full_name(self, schema: Schema) -> str:
        if not schema.name:
            self._unnamed += 1
            return f"{names.DEFAULT_NAME}{self._unnamed}"
        return ".".join(names.proto_name(part, scrub=self._options.scrub) for part in schema.name.split("."))


def _tag(field: Field, numbers: Iterator[int]) -> str:
    tag = (field.schema.parameters or {}).get(names.TAG)
    return str(next(numbers)) if tag is None else tag


def _decimal_meta(schema: Schema) -> dict[str, str]:
    if schema.name != DECIMAL:
        return {}
    parameters = schema.parameters or {}
    wanted = {names.PRECISION: names.CONNECT_PRECISION, SCALE: SCALE}
    return {name: parameters[key] for name, key in wanted.items() if key in parameters}
