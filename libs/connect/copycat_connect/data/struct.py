"""Structs: values of a STRUCT schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from copycat_connect.data.java import to_text_under
from copycat_connect.data.schema import ConnectValue, Field, Schema, SchemaType
from copycat_connect.data.validation import validate_value
from copycat_connect.errors import DataError

_new = object.__new__
#: Types that `%s` writes as Java does.
_PLAIN = frozenset({str, int})


class Struct:
    """A record of named fields. Values are checked against the schema as they are put."""

    __slots__ = ("schema", "values")

    java_class: ClassVar[str] = "org.apache.kafka.connect.data.Struct"
    schema: Schema
    values: list[ConnectValue]

    def __init__(self, schema: Schema, values: Mapping[str, ConnectValue] | None = None) -> None:
        """Make a struct of a STRUCT schema, every field unset.

        Args:
            schema: The schema.
            values: Fields to put at once.

        Raises:
            DataError: The schema is no STRUCT, or a value does not fit.
        """
        if schema.type is not SchemaType.STRUCT:
            raise DataError(f"Not a struct schema: {schema}")
        self.schema = schema
        self.values = [None] * len(schema.field_list)
        if values:
            for name, value in values.items():
                self.put(name, value)

    @classmethod
    def of_valid(cls, schema: Schema, values: list[ConnectValue]) -> Struct:
        """Make a struct of values that are known to fit, in the order of the fields; nothing is checked."""
        struct = _new(cls)
        struct.schema = schema
        struct.values = values
        return struct

    def put(self, field: str | Field | None, value: ConnectValue) -> Struct:
        """Set a field.

        Null is refused for a required field even when it has a default: leave such a field unset. A field
        of another schema counts by its place; None, which a schema gives for what it does not have, by none.

        Returns:
            Itself, so that calls chain.

        Raises:
            DataError: There is no such field, or the value does not fit.
        """
        known = self._lookup(field) if isinstance(field, str) else field
        if known is None:
            raise DataError("field cannot be null.")
        validate_value(known.schema, value, f'field: "{known.name}"')
        try:
            self.values[known.index] = value
        except IndexError as error:
            raise self._foreign(known) from error
        return self

    def get(self, field: str | Field) -> ConnectValue:
        """Return a field's value, its schema's default when it is unset.

        Raises:
            DataError: There is no such field.
        """
        known = self._lookup(field) if isinstance(field, str) else field
        try:
            value = self.values[known.index]
        except IndexError as error:
            raise self._foreign(known) from error
        return known.schema.default if value is None else value

    def get_without_default(self, name: str) -> ConnectValue:
        """Return a field's value, None when it is unset.

        Raises:
            DataError: There is no such field.
        """
        return self.values[self._lookup(name).index]

    def __getitem__(self, name: str) -> ConnectValue:
        return self.get(name)

    def validate(self) -> None:
        """Check every field; an unset one passes when it is optional or has a default.

        Raises:
            DataError: A field does not fit.
        """
        for field, value in zip(self.schema.field_list, self.values, strict=True):
            schema = field.schema
            if value is None and (schema.optional or schema.default is not None):
                continue
            validate_value(schema, value, f'field: "{field.name}"')

    def _lookup(self, name: str) -> Field:
        field = self.schema.field(name)
        if field is None:
            raise DataError(f"{name} is not a valid field name")
        return field

    def _foreign(self, field: Field) -> DataError:
        return DataError(
            f'The field "{field.name}" is of another schema: it has place {field.index} there, '
            f"and this struct has {len(self.values)} fields"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Struct) and self.schema == other.schema and self.values == other.values

    def __hash__(self) -> int:
        return hash(self.schema)

    def __str__(self) -> str:
        values = self.values
        if _PLAIN.issuperset(map(type, values)):
            return self.schema.struct_template % tuple(values)
        set_fields = (
            f"{field.name}={to_text_under(field.schema, value)}"
            for field, value in zip(self.schema.field_list, values, strict=True)
            if value is not None
        )
        return "Struct{" + ",".join(set_fields) + "}"

    __repr__ = __str__
