"""The converters of plain numbers: big-endian, of fixed size. One class, registered once for each type."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from copycat_connect.data import (
    OPTIONAL_FLOAT32_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_INT16_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    ConnectValue,
    Headers,
    Schema,
    SchemaAndValue,
    SchemaType,
)
from copycat_connect.data.java import class_text, round_to_float32
from copycat_connect.errors import DataError
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import Converter, HeaderConverter, PluginKind, PluginSpec
from copycat_connect.plugin.converters import ConverterSettings

_CLASSES = {
    SchemaType.INT8: "java.lang.Byte",
    SchemaType.INT16: "java.lang.Short",
    SchemaType.INT32: "java.lang.Integer",
    SchemaType.INT64: "java.lang.Long",
    SchemaType.FLOAT32: "java.lang.Float",
    SchemaType.FLOAT64: "java.lang.Double",
}


def _class_text(schema: Schema, value: ConnectValue) -> str:
    """Return the Java class of a value, which of a number its schema says."""
    plain = type(value) in (int, float)
    return f"class {_CLASSES[schema.type]}" if plain and schema.type in _CLASSES else class_text(value)


def _take_int(value: ConnectValue) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value


def _take_float(value: ConnectValue) -> float:
    if not isinstance(value, float):
        raise TypeError
    return value


def _take_single(value: ConnectValue) -> float:
    return round_to_float32(_take_float(value))


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How numbers of one type are laid out."""

    name: str
    """Name in error texts, e.g. `integer`."""
    layout: struct.Struct
    """The bytes."""
    schema: Schema
    """Schema of what is read."""
    take: Callable[[ConnectValue], float]
    """Returns a number of this type; raises TypeError for anything else."""
    deserializer: str
    """Kafka's deserializer as its error text names it."""

    @property
    def class_name(self) -> str:
        """The converter's class name in Kafka Connect."""
        return f"org.apache.kafka.connect.converters.{self.name.capitalize()}Converter"


FORMATS = (
    NumberFormat("short", struct.Struct(">h"), OPTIONAL_INT16_SCHEMA, _take_int, "ShortDeserializer"),
    NumberFormat("integer", struct.Struct(">i"), OPTIONAL_INT32_SCHEMA, _take_int, "IntegerDeserializer"),
    NumberFormat("long", struct.Struct(">q"), OPTIONAL_INT64_SCHEMA, _take_int, "LongDeserializer"),
    NumberFormat("float", struct.Struct(">f"), OPTIONAL_FLOAT32_SCHEMA, _take_single, "Deserializer"),
    NumberFormat("double", struct.Struct(">d"), OPTIONAL_FLOAT64_SCHEMA, _take_float, "Deserializer"),
)


class NumberConverter(Converter, HeaderConverter):
    """Converts the numbers of one format."""

    def __init__(self, number: NumberFormat) -> None:
        self._format = number

    def to_connect(self, topic: str, headers: Headers | None, data: bytes | None) -> SchemaAndValue:
        """Return the number with an optional schema."""
        del topic, headers
        number = self._format
        if data is None:
            return SchemaAndValue(number.schema, None)
        if len(data) != number.layout.size:
            cause = f"Size of data received by {number.deserializer} is not {number.layout.size}"
            raise DataError(f"Failed to deserialize {number.name}: ") from ValueError(cause)
        return SchemaAndValue(number.schema, number.layout.unpack(data)[0])

    def from_connect(
        self, topic: str, headers: Headers | None, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        """Return the bytes of the number; null stays null."""
        del topic, headers
        if value is None:
            return None
        number = self._format
        if schema is not None and schema.type is not number.schema.type:
            raise self._wrong_class(_class_text(schema, value))
        try:
            return number.layout.pack(number.take(value))
        except (struct.error, TypeError) as error:
            raise self._wrong_class(class_text(value)) from error

    def _wrong_class(self, found: str) -> DataError:
        return DataError(f"Failed to serialize to {self._format.name} (was {found}): ")

    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> SchemaAndValue:
        """Return the number with an optional schema."""
        del key
        return self.to_connect(topic, None, data)

    def from_connect_header(
        self, topic: str, key: str, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        """Return the bytes of the number; null stays null."""
        del key
        return self.from_connect(topic, None, schema, value)


def _factory(number: NumberFormat) -> Callable[[], NumberConverter]:
    return partial(NumberConverter, number)


PLUGINS = tuple(
    PluginSpec(
        class_name=number.class_name,
        kind=kind,
        version=KAFKA_VERSION,
        summary=f"A number of the type {number.schema.type.value}, {number.layout.size} bytes big-endian.",
        config=ConverterSettings.config_def(),
        factory=_factory(number),
    )
    for number in FORMATS
    for kind in (PluginKind.CONVERTER, PluginKind.HEADER_CONVERTER)
)
