"""SchemaBuilder: makes schemas step by step, refusing what makes no sense."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_connect.data.schema import ConnectValue, Field, Schema, SchemaType
from copycat_connect.data.validation import validate_value
from copycat_connect.errors import DataError, ErrorCode


class SchemaBuilderError(DataError):
    """A schema was described wrongly (Kafka's SchemaBuilderException)."""

    code = ErrorCode("connect.schema", grpc="INVALID_ARGUMENT", http=400)


class SchemaBuilder:
    """Builds a `Schema`; each attribute may be set once.

    `SchemaBuilder.struct().field("id", INT64_SCHEMA).name("Order").build()`
    """

    def __init__(self, type: SchemaType) -> None:
        """Start a schema of that type."""
        self._type = type
        self._set: dict[str, ConnectValue] = {}
        self._parameters: dict[str, str] = {}
        self._fields: dict[str, Field] = {}
        self._key: Schema | None = None
        self._value: Schema | None = None

    @classmethod
    def struct(cls) -> SchemaBuilder:
        """Start a STRUCT."""
        return cls(SchemaType.STRUCT)

    @classmethod
    def array(cls, value_schema: Schema | None) -> SchemaBuilder:
        """Start an ARRAY of such values."""
        if value_schema is None:
            raise SchemaBuilderError("valueSchema cannot be null.")
        builder = cls(SchemaType.ARRAY)
        builder._value = value_schema
        return builder

    @classmethod
    def map(cls, key_schema: Schema | None, value_schema: Schema | None) -> SchemaBuilder:
        """Start a MAP of such keys and values."""
        if key_schema is None:
            raise SchemaBuilderError("keySchema cannot be null.")
        if value_schema is None:
            raise SchemaBuilderError("valueSchema cannot be null.")
        builder = cls(SchemaType.MAP)
        builder._key, builder._value = key_schema, value_schema
        return builder

    def optional(self) -> SchemaBuilder:
        """Allow null."""
        return self._once("optional", True)

    def required(self) -> SchemaBuilder:
        """Refuse null."""
        return self._once("optional", False)

    def default_value(self, value: ConnectValue) -> SchemaBuilder:
        """Give the value that stands in for a missing one.

        Raises:
            SchemaBuilderError: It does not fit the schema so far.
        """
        try:
            validate_value(self.build(), value)
        except DataError as error:
            raise SchemaBuilderError("Invalid default value") from error
        return self._once("default", value)

    def name(self, name: str) -> SchemaBuilder:
        """Name the type."""
        return self._once("name", name)

    def version(self, version: int) -> SchemaBuilder:
        """Give the named type's version."""
        return self._once("version", version)

    def doc(self, doc: str) -> SchemaBuilder:
        """Say what the value means."""
        return self._once("doc", doc)

    def parameter(self, name: str, value: str) -> SchemaBuilder:
        """Add one parameter."""
        self._parameters[name] = value
        return self

    def parameters(self, parameters: Mapping[str, str]) -> SchemaBuilder:
        """Add several parameters."""
        self._parameters.update(parameters)
        return self

    def field(self, name: str, schema: Schema | None) -> SchemaBuilder:
        """Append a member to a STRUCT."""
        if self._type is not SchemaType.STRUCT:
            raise SchemaBuilderError(f"Cannot create fields on type {self._type}")
        if not name:
            raise SchemaBuilderError("fieldName cannot be null.")
        if schema is None:
            raise SchemaBuilderError(f"fieldSchema for field {name} cannot be null.")
        if name in self._fields:
            raise SchemaBuilderError(f"Cannot create field because of field name duplication {name}")
        self._fields[name] = Field(name, len(self._fields), schema)
        return self

    def build(self) -> Schema:
        """Return the schema."""
        return Schema(
            self._type,
            parameters=dict(self._parameters) or None,
            field_list=tuple(self._fields.values()),
            key=self._key,
            value=self._value,
            **self._set,
        )

    def _once(self, what: str, value: ConnectValue) -> SchemaBuilder:
        if self._set.get(what) is not None and self._set[what] is not value:
            raise SchemaBuilderError(f"Invalid SchemaBuilder call: {what} has already been set.")
        self._set[what] = value
        return self
