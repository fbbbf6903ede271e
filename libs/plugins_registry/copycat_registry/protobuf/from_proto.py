"""Messages of Protobuf as Connect schemas, each with how it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from confluent_kafka.schema_registry.confluent import meta_pb2
from copycat_connect.data import (
    DATE_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Field,
    Schema,
    SchemaType,
    decimal_schema,
)
from copycat_connect.errors import DataError
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, OneofDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldOptions

from copycat_registry.protobuf import names, value_readers
from copycat_registry.protobuf.indexes import message_of
from copycat_registry.protobuf.plugin import ProtobufOptions
from copycat_registry.protobuf.value_readers import FieldReader, FromProto

_TYPES: Final[Mapping[int, tuple[SchemaType, str]]] = {
    FieldDescriptor.TYPE_INT32: (SchemaType.INT32, "int32"),
    FieldDescriptor.TYPE_SINT32: (SchemaType.INT32, "sint32"),
    FieldDescriptor.TYPE_SFIXED32: (SchemaType.INT32, "sfixed32"),
    FieldDescriptor.TYPE_UINT32: (SchemaType.INT64, "uint32"),
    FieldDescriptor.TYPE_FIXED32: (SchemaType.INT64, "fixed32"),
    FieldDescriptor.TYPE_INT64: (SchemaType.INT64, "int64"),
    FieldDescriptor.TYPE_UINT64: (SchemaType.INT64, "uint64"),
    FieldDescriptor.TYPE_SINT64: (SchemaType.INT64, "sint64"),
    FieldDescriptor.TYPE_FIXED64: (SchemaType.INT64, "fixed64"),
    FieldDescriptor.TYPE_SFIXED64: (SchemaType.INT64, "sfixed64"),
    FieldDescriptor.TYPE_FLOAT: (SchemaType.FLOAT32, "float"),
    FieldDescriptor.TYPE_DOUBLE: (SchemaType.FLOAT64, "double"),
    FieldDescriptor.TYPE_BOOL: (SchemaType.BOOLEAN, "bool"),
    FieldDescriptor.TYPE_STRING: (SchemaType.STRING, "string"),
    FieldDescriptor.TYPE_BYTES: (SchemaType.BYTES, "bytes"),
}
_USUAL: Final = frozenset({"int32", "int64"})
_UNSIGNED: Final = frozenset({"uint64", "fixed64"})
_NARROW: Final = {"int8": SchemaType.INT8, "int16": SchemaType.INT16}
_LOGICAL: Final = {
    "google.type.Date": DATE_SCHEMA,
    "google.type.TimeOfDay": TIME_SCHEMA,
    "google.protobuf.Timestamp": TIMESTAMP_SCHEMA,
}


class ConnectMessages:
    """Translates the messages of one registered schema."""

    def __init__(self, options: ProtobufOptions) -> None:
        self._options = options
        self._inside: list[str] = []

    def root(self, message: Descriptor, version: int | None) -> tuple[Schema, FromProto]:
        """Translate the message that records are; also returns how they are read.

        Raises:
            DataError: Connect's data model cannot hold it.
        """
        wrapped = _wrapped(message) if self._options.wrapper_for_primitives else None
        if wrapped is not None:
            return replace(wrapped, version=version), _unwrapped(message)
        return self._struct(message, optional=False, version=version)

    def _struct(
        self,
        message: Descriptor,
        *,
        optional: bool = True,
        version: int | None = None,
        tag: int | None = None,
    ) -> tuple[Schema, FromProto]:
        if message.full_name in self._inside:
            text = (
                f"The Protobuf message {message.full_name} contains itself, which Connect schemas here "
                "cannot: read the topic with ByteArrayConverter."
            )
            raise DataError(text)
        self._inside.append(message.full_name)
        places = [*self._oneofs(message), *self._plain_fields(message)]
        self._inside.pop()
        schema = Schema(
            SchemaType.STRUCT,
            optional=optional,
            name=self._name(message.full_name, message.name),
            version=version,
            parameters=None if tag is None else {names.TAG: str(tag)},
            field_list=tuple(Field(name, place, each) for place, (name, each, _) in enumerate(places)),
        )
        return schema, value_readers.struct([reader for _, _, reader in places], schema)

    def _oneofs(self, message: Descriptor) -> list[tuple[str, Schema, tuple[FieldReader, ...] | FieldReader]]:
        marked = _marked_optional(message)
        found: list[tuple[str, Schema, tuple[FieldReader, ...] | FieldReader]] = []
        for oneof in message.oneofs:
            if oneof.fields[0].name in marked:
                continue  # how Protobuf itself distinguishes null from zero
            members = [(field.name, *self._field(field, in_oneof=True)) for field in oneof.fields]
            if self._options.flatten_unions:
                found += members
                continue
            name = f"{oneof.name}_{oneof.index}" if self._options.index_for_unions else oneof.name
            found.append((name, _union(oneof, members), tuple(reader for _, _, reader in members)))
        return found

    def _plain_fields(self, message: Descriptor) -> list[tuple[str, Schema, FieldReader]]:
        marked = _marked_optional(message)
        return [
            (field.name, *self._field(field))
            for field in message.fields
            if field.containing_oneof is None or field.name in marked
        ]

    def _field(self, field: FieldDescriptor, *, in_oneof: bool = False) -> tuple[Schema, FieldReader]:
        schema, read = self._map(field) if _is_map(field) else self._single(field)
        if field.is_repeated and schema.type is not SchemaType.MAP:
            items = replace(schema, optional=True)
            schema, read = Schema(SchemaType.ARRAY, optional=True, value=items), value_readers.array(read)
        if in_oneof:
            optional = True
        elif self._options.optional_for_nullables:
            optional = schema.optional or (field.has_presence and not field.is_repeated)
        else:
            optional = schema.optional or not self._options.wrapper_for_nullables
        tagged = {**(schema.parameters or {}), names.TAG: str(field.number)}
        if schema.type is SchemaType.STRUCT:
            found = schema  # it is finished: its structs carry it
        else:
            found = replace(schema, optional=optional, parameters=tagged)
        return found, FieldReader(field.name, read, field.has_presence and not field.is_repeated)

    def _single(self, field: FieldDescriptor) -> tuple[Schema, FromProto]:
        if field.message_type is not None:
            return self._message(field)
        if field.enum_type is not None:
            return self._enum(field.enum_type)
        type_, name = _TYPES[field.type]
        type_ = (
            _NARROW.get(_meta(field).get(names.CONNECT_TYPE, ""), type_)
            if type_ is SchemaType.INT32
            else type_
        )
        is_usual = name in _USUAL or type_ not in (SchemaType.INT32, SchemaType.INT64)
        read = value_readers.signed if name in _UNSIGNED else value_readers.as_is
        return Schema(type_, parameters=None if is_usual else {names.TYPE: name}), read

    def _message(self, field: FieldDescriptor) -> tuple[Schema, FromProto]:
        message = message_of(field)
        schema = _LOGICAL.get(message.full_name)
        if message.full_name == "confluent.type.Decimal":
            meta = _meta(field)
            schema = decimal_schema(int(meta.get("scale", "0")))
            if names.PRECISION in meta:
                more = {**(schema.parameters or {}), names.CONNECT_PRECISION: meta[names.PRECISION]}
                schema = replace(schema, parameters=more)
        if schema is not None:
            return replace(schema, optional=True), value_readers.logical(schema) or value_readers.as_is
        wrapped = _wrapped(message) if self._options.wrapper_for_nullables else None
        if wrapped is not None:
            return replace(wrapped, optional=True), _unwrapped(message)
        return self._struct(message, tag=None if field.is_repeated else field.number)

    def _enum(self, enum: EnumDescriptor) -> tuple[Schema, FromProto]:
        parameters = {names.ENUM: enum.name}
        parameters |= {f"{names.ENUM}.{value.name}": str(value.number) for value in enum.values}
        type_ = SchemaType.INT32 if self._options.int_for_enums else SchemaType.STRING
        schema = Schema(
            type_, optional=True, name=self._name(enum.full_name, enum.name), parameters=parameters
        )
        if self._options.int_for_enums:
            return schema, value_readers.as_is
        return schema, value_readers.symbol({value.number: value.name for value in enum.values})

    def _map(self, field: FieldDescriptor) -> tuple[Schema, FromProto]:
        entry = message_of(field)
        key, key_reader = self._field(entry.fields_by_name[names.KEY])
        value, value_reader = self._field(entry.fields_by_name[names.VALUE])
        name = self._name(entry.full_name, entry.name).removesuffix(names.ENTRY)
        schema = Schema(SchemaType.MAP, optional=True, name=name, key=key, value=value)
        own = entry.GetOptions().map_entry
        compose = value_readers.proto_map if own else value_readers.entries
        return schema, compose(key_reader, value_reader)

    def _name(self, full_name: str, name: str) -> str:
        return full_name if self._options.enhanced else name


def _union(oneof: OneofDescriptor, members: list[tuple[str, Schema, FieldReader]]) -> Schema:
    fields = tuple(Field(name, place, schema) for place, (name, schema, _) in enumerate(members))
    return Schema(SchemaType.STRUCT, optional=True, name=f"{names.UNION}.{oneof.name}", field_list=fields)


def _wrapped(message: Descriptor) -> Schema | None:
    package, _, name = message.full_name.rpartition(".")
    if package != names.WRAPPER_PACKAGE or name not in names.WRAPPERS:
        return None
    return Schema(names.WRAPPERS[name])


def _unwrapped(wrapper: Descriptor) -> FromProto:
    is_unsigned = wrapper.name == names.UNSIGNED_WRAPPER
    return value_readers.of_wrapper(value_readers.signed if is_unsigned else value_readers.as_is)


def _is_map(field: FieldDescriptor) -> bool:
    """Return whether repeated messages stand for a map: Protobuf's own, or entries as Connect writes them."""
    if (
        not field.is_repeated
        or field.message_type is None
        or not field.message_type.name.endswith(names.ENTRY)
    ):
        return False
    fields = field.message_type.fields
    return [each.name for each in fields] == [names.KEY, names.VALUE] and not any(
        each.is_repeated for each in fields
    )


def _marked_optional(message: Descriptor) -> frozenset[str]:
    proto = DescriptorProto()
    message.CopyToProto(proto)
    return frozenset(field.name for field in proto.field if field.proto3_optional)


def _meta(field: FieldDescriptor) -> Mapping[str, str]:
    # The schema's own pool does not know our class of the option: read it again with one that does.
    options = FieldOptions.FromString(field.GetOptions().SerializeToString())
    return dict(options.Extensions[meta_pb2.field_meta].params)  # type: ignore[attr-defined]
