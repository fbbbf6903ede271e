"""Converters: between the data model and the bytes in Kafka."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeVar

from copycat_connect.cluster import Config
from copycat_connect.config.key import Importance
from copycat_connect.config.settings import Settings, key
from copycat_connect.config.validators import one_of
from copycat_connect.data.headers import Headers
from copycat_connect.data.schema import STRING_SCHEMA, ConnectValue, Schema, SchemaAndValue

CONVERTER_TYPE = "converter.type"
"""The key that says what a converter converts; the engine sets it."""
C = TypeVar("C", bound="ConverterSettings")


class ConverterSettings(Settings):
    """The key of every converter; those with more keys add them in a subclass."""

    converter_type: str = key(
        Importance.LOW,
        name=CONVERTER_TYPE,
        check=one_of("key", "value", "header"),
        doc="What is converted: key, value or header. Set by the engine.",
    )

    @classmethod
    def of(cls: type[C], config: Config, *, is_key: bool) -> C:
        """Return the settings in a configuration, which need not say what is converted.

        Raises:
            ConfigError: A value is wrong or missing; the first one found.
        """
        return cls.parse({CONVERTER_TYPE: "key" if is_key else "value", **config})


class Converter(ABC):
    """Converts keys or values."""

    def configure(self, config: Config, is_key: bool = False) -> None:
        """Use this configuration: what stands under `key.converter.` or `value.converter.`."""

    @abstractmethod
    def to_connect(self, topic: str, headers: Headers | None, data: bytes | None) -> SchemaAndValue:
        """Decode what Kafka holds.

        Args:
            topic: The record's topic.
            headers: The record's headers; None when it has none.
            data: The bytes; None for null.

        Raises:
            DataError: The bytes are not what this converter reads.
        """

    @abstractmethod
    def from_connect(
        self, topic: str, headers: Headers | None, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        """Encode what goes to Kafka.

        Args:
            topic: The topic the record goes to.
            headers: The record's headers; None when it has none.
            schema: Schema of the value; None for schemaless.
            value: The value.

        Raises:
            DataError: This converter cannot write the value.
        """

    def to_connect_batch(
        self, topic: str, datas: Sequence[bytes | None]
    ) -> tuple[Schema | None, Sequence[ConnectValue]] | None:
        """Decode many at once, when they all have one schema and need no headers.

        Returns:
            The schema and the values, a list, `MapColumns` or `Texts`; None when the caller must decode one
            by one.
        """
        decoded = [self.to_connect(topic, None, data) for data in datas]
        schema = decoded[0].schema if decoded else None
        if any(each.schema is not schema and each.schema != schema for each in decoded):
            return None
        return schema, [each.value for each in decoded]

    def from_connect_batch(
        self, topic: str, schema: Schema | None, values: Sequence[ConnectValue], utf8: bool = False
    ) -> list[bytes | None]:
        """Encode many of one schema at once.

        Args:
            topic: The topic the records go to.
            schema: Schema of every value.
            values: The values, a list or `StructColumns`; with `utf8` the encoded text of STRING values.
            utf8: True when the values are encoded text already.

        Raises:
            DataError: One of the values cannot be written.
        """
        if utf8:
            values, schema = [value.decode() for value in values], schema or STRING_SCHEMA
        return [self.from_connect(topic, None, schema, value) for value in values]

    def close(self) -> None:
        """Let go of everything."""


class HeaderConverter(ABC):
    """Converts the values of headers."""

    def configure(self, config: Config, is_key: bool = False) -> None:
        """Use this configuration: the keys under `header.converter.`, without that prefix."""

    @abstractmethod
    def to_connect_header(self, topic: str, key: str, data: bytes | None) -> SchemaAndValue:
        """Decode the value of a header.

        Raises:
            DataError: The bytes are not what this converter reads.
        """

    @abstractmethod
    def from_connect_header(
        self, topic: str, key: str, schema: Schema | None, value: ConnectValue
    ) -> bytes | None:
        """Encode the value of a header.

        Raises:
            DataError: This converter cannot write the value.
        """

    def close(self) -> None:
        """Let go of everything."""
