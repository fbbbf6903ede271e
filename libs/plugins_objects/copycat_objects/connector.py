"""What the object sinks' connectors have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from copycat_connect.config import ConfigDef, ConfigValue
from copycat_connect.data import TopicPartition
from copycat_connect.plugin import ExactlyOnceSupport, SinkConnector

from copycat_objects.keys import WithoutEffect, tell_unused
from copycat_objects.publication import log_of
from copycat_objects.settings import SinkSettings
from copycat_objects.stores.store import Store

Config = Mapping[str, str | None]


class FilesSinkConnector(SinkConnector):
    """Gives every task the same configuration; derive from it."""

    definition: ConfigDef
    logged: ClassVar[bool] = True
    unused: Sequence[WithoutEffect] = ()

    def __init__(self) -> None:
        """Nothing is connected yet."""
        self._config: dict[str, str] = {}

    @classmethod
    def read(cls, config: Config) -> SinkSettings:
        """Return what a configuration means; the store is not asked.

        Raises:
            ConfigError: It is wrong.
        """
        raise NotImplementedError

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration and keep it, and warn of keys that do nothing."""
        self.read(config)
        tell_unused(config.get("name") or "", self.definition, self.unused, config)
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return the connector's own configuration for every task."""
        return [dict(self._config) for _ in range(max_tasks)]

    def stop(self) -> None:
        """Do nothing: the connector itself holds no resources."""

    def validate(self, config: Config) -> list[ConfigValue]:
        """Check single keys, and which of them go together."""
        return self.definition.validate_together(config, lambda: self.read(config))

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """Support it where a commit log is in the store, with the files."""
        del config
        return ExactlyOnceSupport.SUPPORTED if self.logged else ExactlyOnceSupport.UNSUPPORTED

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Accept any offsets, and change those in commit logs, where there are. Files stay as they are."""
        if not self.logged:
            return True
        settings = self.read(config)
        store = settings.open_store()
        try:
            wanted = offsets or dict.fromkeys(_logged(settings, store))
            for partition, offset in wanted.items():
                log = log_of(store, settings, partition)
                log.claim(log.recover(lost_is_accepted=True), offset)
        finally:
            store.close()
        return True


def _logged(settings: SinkSettings, store: Store) -> Iterator[TopicPartition]:
    """Yield the partitions whose commit logs are this connector's."""
    layout = settings.layout
    seen: set[TopicPartition] = set()
    for file in list(store.list(layout.logs.partition("${")[0].rpartition("/")[0] or layout.logs)):
        names = file.path.split("/")
        if len(names) < 3 or not names[-2].isdecimal():
            continue
        partition = TopicPartition(names[-3], int(names[-2]))
        if partition in seen or layout.log_folder(partition) != "/".join(names[:-1]):
            continue
        seen.add(partition)
        newest = log_of(store, settings, partition).read()
        if newest is not None and newest.connector == settings.connector:
            yield partition
