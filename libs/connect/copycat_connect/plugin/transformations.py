"""Transformations and predicates: small changes to single records, and the conditions for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from copycat_connect.cluster import Config
from copycat_connect.config.setting import ConfigValue
from copycat_connect.data.columns import MapColumns
from copycat_connect.data.records import ConnectRecord
from copycat_connect.data.schema import ConnectValue, Schema
from copycat_connect.plugin.contexts import TransformationContext

R = TypeVar("R", bound=ConnectRecord)
Values = tuple[Schema | None, list[ConnectValue]]


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left of many values when some were dropped."""

    schema: Schema | None
    """The schema of every value."""
    values: list[ConnectValue]
    """The values that remain, in their order."""
    places: list[int]
    """Which of the given values each of them came from, in rising order."""


class Transformation(ABC):
    """Changes one record at a time: no I/O, no logging, no state but its configuration and bounded caches."""

    def initialize(self, context: TransformationContext) -> None:
        """Use what the engine offers; called before `configure` and `validate`."""

    def validate(self, config: Config) -> list[ConfigValue]:
        """Check what single keys cannot say; called when each of them is fine.

        Args:
            config: The keys under `transforms.<alias>.`, without that prefix.

        Returns:
            Keys with the errors found; by default none.
        """
        del config
        return []

    def configure(self, config: Config) -> None:
        """Use this configuration: the keys under `transforms.<alias>.`, without that prefix.

        Raises:
            ConfigError: It is wrong.
        """

    @abstractmethod
    def apply(self, record: R) -> R | None:
        """Return the record that follows, or None to drop it; the given one and its value stay unchanged.

        Raises:
            DataError: The record is not what this transformation works on.
        """

    def apply_in_place(self, record: R) -> R | None:
        """Do what `apply` does with a record that is the caller's own, made by `private` or just now.

        It may change the record, and the map that is its key or value, but nothing deeper; by default it
        calls `apply`. Define it where that saves much. A record on which it failed is lost.
        """
        return self.apply(record)

    def apply_to_values(self, schema: Schema | None, values: list[ConnectValue]) -> Values | Remaining | None:
        """Do what `apply` does with the values of many records, when those and their schema are all it needs.

        Args:
            schema: The schema of every value.
            values: The values; the list and the maps in it are this transformation's own from now on.

        Returns:
            The schema and the values that follow, one for each, or what remains of them; None when it must
            see whole records. By default None. A failure means nothing yet: the engine then goes record by
            record.
        """
        del schema, values
        return None

    def apply_to_columns(self, columns: MapColumns) -> MapColumns | None:
        """Do what `apply` does with the values of many records that are schemaless maps with the same keys.

        Args:
            columns: The maps; neither they nor the columns may be changed.

        Returns:
            As many maps that follow; None when `apply_to_values` is to be asked. By default None. A failure
            means nothing yet: the engine then goes record by record.
        """
        del columns
        return None

    def apply_to_records(self, records: Sequence[R]) -> list[R | None] | None:
        """Do what `apply` does with many records at once.

        Args:
            records: The records; they and the maps that are their values stay unchanged.

        Returns:
            What follows each of them, None where one is dropped; None when they are to go one by one. By
            default None.

        Raises:
            DataError: One of them is not what this transformation works on; the engine finds out which.
        """
        del records
        return None

    def close(self) -> None:
        """Let go of everything."""


class Predicate(ABC):
    """Decides whether a transformation is applied to a record."""

    def configure(self, config: Config) -> None:
        """Use this configuration: the keys under `predicates.<alias>.`, without that prefix.

        Raises:
            ConfigError: It is wrong.
        """

    @abstractmethod
    def test(self, record: ConnectRecord) -> bool:
        """Return whether the record meets the condition."""

    def close(self) -> None:
        """Let go of everything."""
