"""ObjectSource: every task looks at the whole store and reads its share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from copycat_connect.cluster import Config
from copycat_connect.config import ConfigValue
from copycat_connect.plugin import ExactlyOnceSupport, OffsetEffect, OffsetMove, SourceConnector
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_objects.source.positions import check_offset, check_partition, effect_of
from copycat_objects.source.settings import TASK, TASKS, ObjectSourceSettings
from copycat_objects.stores.keys import STORE_URL
from copycat_objects.stores.opening import open_store
from copycat_objects.stores.store import Store


class ObjectSourceConnector(SourceConnector):
    """Divides files by their names, so that new ones need no new configuration of tasks."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration and keep it."""
        _open_store(config).close()
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return as many as allowed, each with its number."""
        return [{**self._config, TASK: str(task), TASKS: str(max_tasks)} for task in range(max_tasks)]

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""

    def validate(self, config: Config) -> list[ConfigValue]:
        """Check single keys, and that the address is one of a store; the store is not asked."""
        return ObjectSourceSettings.config_def().validate_together(
            config, lambda: _open_store(config).close(), key=STORE_URL
        )

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
        store = _open_store(config)
        try:
            return [effect_of(move, store.name) for move in moves]
        finally:
            store.close()


def _open_store(config: Config) -> Store:
    settings = ObjectSourceSettings.parse(config)
    return open_store(settings.values_by_key(), settings.store_url)
