"""Sides: the key or the value of a record, so that one class serves two registrations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol, TypeVar

from copycat_connect.config import ConfigDef
from copycat_connect.data import ConnectRecord, ConnectValue, MapColumn, MapColumns, Schema
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec, Transformation
from copycat_connect.plugin.transformations import Values

R = TypeVar("R", bound=ConnectRecord)
PACKAGE = "org.apache.kafka.connect.transforms"


class Side(Protocol):
    """The part of a record a transformation works on."""

    def schema(self, record: ConnectRecord) -> Schema | None:
        """Return the schema of a record's key or value."""

    def value(self, record: ConnectRecord) -> ConnectValue:
        """Return a record's key or value."""

    def update(self, record: R, schema: Schema | None, value: ConnectValue) -> R:
        """Return a record with another part."""

    def set(self, record: ConnectRecord, schema: Schema | None, value: ConnectValue) -> None:
        """Change the part of this record."""


class KeySide:
    """Reads and replaces the key of a record."""

    def schema(self, record: ConnectRecord) -> Schema | None:
        """Return the schema of the key."""
        return record.key_schema

    def value(self, record: ConnectRecord) -> ConnectValue:
        """Return the key of the record."""
        return record.key

    def update(self, record: R, schema: Schema | None, value: ConnectValue) -> R:
        """Return a record with another key."""
        return record.with_key(schema, value)

    def set(self, record: ConnectRecord, schema: Schema | None, value: ConnectValue) -> None:
        """Change the key of this record."""
        record.key_schema = schema
        record.key = value


class ValueSide:
    """Reads and replaces the value of a record."""

    def schema(self, record: ConnectRecord) -> Schema | None:
        """Return the schema of the value."""
        return record.value_schema

    def value(self, record: ConnectRecord) -> ConnectValue:
        """Return the value of the record."""
        return record.value

    def update(self, record: R, schema: Schema | None, value: ConnectValue) -> R:
        """Return a record with another value."""
        return record.with_value(schema, value)

    def set(self, record: ConnectRecord, schema: Schema | None, value: ConnectValue) -> None:
        """Change the value of this record."""
        record.value_schema = schema
        record.value = value


SIDES: Mapping[str, Side] = {"Key": KeySide(), "Value": ValueSide()}
"""By the suffix of the class name."""


class SidedTransformation(Transformation):
    """A transformation of one side."""

    def __init__(self, side: Side) -> None:
        self.side = side

    def apply(self, record: R) -> R | None:
        """Return a record whose side is changed."""
        side = self.side
        schema, value = self.change(record, side.schema(record), side.value(record))
        return side.update(record, schema, value)

    def apply_in_place(self, record: R) -> R | None:
        """Change the side of the record."""
        side = self.side
        schema, value = self.change(record, side.schema(record), side.value(record), owned=True)
        side.set(record, schema, value)
        return record

    def apply_to_values(self, schema: Schema | None, values: list[ConnectValue]) -> Values | None:
        """Change values without their records where that can be done."""
        return self.change_all(schema, values) if isinstance(self.side, ValueSide) else None

    def apply_to_columns(self, columns: MapColumns) -> MapColumns | None:
        """Change columns where that can be done."""
        changed = self.change_columns(columns) if isinstance(self.side, ValueSide) else None
        return None if changed is None else columns.with_columns(changed)

    def change_columns(self, columns: MapColumns) -> dict[ConnectValue, MapColumn] | None:
        """Return the columns of maps that `change` makes of these; None when it needs the values."""
        del columns
        return None

    def change_all(self, schema: Schema | None, values: list[ConnectValue]) -> Values | None:
        """Do with many values what `change` does; None, before any is changed, when it needs the records."""
        del schema, values
        return None

    @abstractmethod
    def change(
        self, record: ConnectRecord, schema: Schema | None, value: ConnectValue, *, owned: bool = False
    ) -> tuple[Schema | None, ConnectValue]:
        """Return what takes the side's place.

        Args:
            record: The whole record.
            schema: The side's schema.
            value: The side.
            owned: True when a map that is the side may be changed.

        Raises:
            DataError: The side is not what this transformation works on.
        """


def sided_plugins(
    make: Callable[[Side], Transformation],
    name: str,
    summary: str,
    config: ConfigDef,
    examples: Mapping[str, Mapping[str, str]],
) -> tuple[PluginSpec, ...]:
    """Return the two registrations of a transformation."""
    return tuple(
        PluginSpec(
            class_name=f"{PACKAGE}.{name}${suffix}",
            kind=PluginKind.TRANSFORMATION,
            version=KAFKA_VERSION,
            summary=summary,
            config=config,
            factory=partial(make, side),
            examples=examples,
        )
        for suffix, side in SIDES.items()
    )


def plain_plugin(
    make: Callable[[], Transformation],
    name: str,
    summary: str,
    config: ConfigDef,
    examples: Mapping[str, Mapping[str, str]],
) -> PluginSpec:
    """Return the registration of a transformation of whole records."""
    return PluginSpec(
        class_name=f"{PACKAGE}.{name}",
        kind=PluginKind.TRANSFORMATION,
        version=KAFKA_VERSION,
        summary=summary,
        config=config,
        factory=make,
        examples=examples,
    )
