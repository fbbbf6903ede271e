"""JDBCSource of KIP-26: other names for keys of the published connector, which does the work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from copycat_connect.config import ConfigValue
from copycat_connect.plugin import ExactlyOnceSupport, OffsetEffect, OffsetMove
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_jdbc.kip26.plugin import CONFIG, DEFAULT_MODE, PUBLISHED_NAMES, TASKS_MAX
from copycat_jdbc.source.connector import JdbcSourceConnector
from copycat_jdbc.source.settings import MODE

Text = TypeVar("Text", str, str | None)


class JDBCSourceConnector(JdbcSourceConnector):
    """Its tasks get the published keys."""

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration, and begin to watch the tables."""
        super().start(_published(config))

    def validate(self, config: Mapping[str, str | None]) -> list[ConfigValue]:
        """Check as the published connector, and name the keys as they were written."""
        names = {theirs: own for own, theirs in PUBLISHED_NAMES.items()}
        (tasks,) = (value for value in CONFIG.validate(config) if value.name == TASKS_MAX)
        found = super().validate(_published(config))
        return [tasks, *(_renamed(value, names) for value in found)]

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """Rows can be read on after any one of them where each has a number of its own."""
        return super().exactly_once_support(_published(config))

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Accept tables and the query, with numbers and times that `mode` follows."""
        return super().alter_offsets(_published(config), offsets)

    def explain_offsets(
        self, config: Mapping[str, str], moves: Sequence[OffsetMove]
    ) -> list[OffsetEffect | None]:
        """Count the rows between two positions."""
        return super().explain_offsets(_published(config), moves)

    def find_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition, SourceOffset]],
        time: datetime,
    ) -> list[tuple[SourcePartition, SourceOffset | None]] | None:
        """Return the positions of a time, where timestamp columns are followed."""
        return super().find_offsets(_published(config), offsets, time)


def _published(config: Mapping[str, Text]) -> dict[str, Text]:
    default: dict[str, Text] = {MODE: DEFAULT_MODE}
    return default | {PUBLISHED_NAMES.get(key, key): value for key, value in config.items()}


def _renamed(value: ConfigValue, names: Mapping[str, str]) -> ConfigValue:
    errors = value.errors
    for theirs, own in names.items():
        errors = [error.replace(theirs, own) for error in errors]
    return replace(value, name=names.get(value.name, value.name), errors=errors)
