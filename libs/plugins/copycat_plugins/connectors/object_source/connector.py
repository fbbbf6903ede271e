"""ObjectSource: every task looks at the whole store and reads its share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from copycat_connect.cluster import Config
from copycat_connect.config import ConfigValue
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import ExactlyOnceSupport, OffsetEffect, OffsetMove, SourceConnector
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_plugins.connectors.object_source import spec
from copycat_plugins.connectors.object_source.positions import check_offset, check_partition
from copycat_plugins.connectors.stores import keys
from copycat_plugins.connectors.stores.opening import open_store


class ObjectSourceConnector(SourceConnector):
    """Divides files by their names, so that new ones need no new configuration of tasks."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration and keep it."""
        parsed = spec.CONFIG.parse(config)
        open_store(parsed, parsed[keys.STORE_URL]).close()
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return as many as allowed, each with its number."""
        return [
            {**self._config, spec.TASK: str(task), spec.TASKS: str(max_tasks)} for task in range(max_tasks)
        ]

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""

    def validate(self, config: Config) -> list[ConfigValue]:
        """Check single keys, and that the address is one of a store; the store is not asked."""
        found = {value.name: value for value in spec.CONFIG.validate(config)}
        if not any(value.errors for value in found.values()):
            parsed: dict[str, Any] = {name: value.value for name, value in found.items()}
            try:
                open_store(parsed, parsed[keys.STORE_URL]).close()
            except ConfigError as error:
                found[error.fields.get("key", keys.STORE_URL)].errors.append(error.message)
        return list(found.values())

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """A file can be read again from any record."""
        del config
        return ExactlyOnceSupport.SUPPORTED

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Accept any file with a number of records from 0 up."""
        del config
        for partition, offset in offsets:
            if offset is None:
                # Whatever is forgotten, the next start is well defined.
                continue
            check_partition(partition)
            check_offset(offset)
        return True

    def explain_offsets(
        self, config: Mapping[str, str], moves: Sequence[OffsetMove]
    ) -> list[OffsetEffect | None]:
        """Count the records between two places of a file."""
        parsed = spec.CONFIG.parse(config)
        store = open_store(parsed, parsed[keys.STORE_URL])
        try:
            return [_effect(move, store.name) for move in moves]
        finally:
            store.close()


def _effect(move: OffsetMove, store: str) -> OffsetEffect | None:
    if move.partition.get(spec.STORE) != store:
        return OffsetEffect(0, 0)  # no task reads it
    before, after = (0 if offset is None else offset.get(spec.RECORD) for offset in (move.before, move.after))
    if not isinstance(before, int) or not isinstance(after, int):
        return None
    return OffsetEffect(max(before - after, 0), max(after - before, 0))
