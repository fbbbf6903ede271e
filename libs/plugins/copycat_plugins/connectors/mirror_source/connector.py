"""MirrorSource: divides the source's partitions among tasks, anew whenever topics come, grow or go."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from copycat_connect.config import ConfigValue
from copycat_connect.errors import ConfigError, CopycatError
from copycat_connect.plugin import ExactlyOnceSupport, SourceConnector
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_plugins.connectors.mirror import keys
from copycat_plugins.connectors.mirror.clients import Clients
from copycat_plugins.connectors.mirror.cluster import Cluster
from copycat_plugins.connectors.mirror.jobs import Jobs
from copycat_plugins.connectors.mirror.offsets import check_offsets
from copycat_plugins.connectors.mirror.syncs import make_syncs_topic
from copycat_plugins.connectors.mirror.watch import Watch
from copycat_plugins.connectors.mirror_source import spec
from copycat_plugins.connectors.mirror_source.topics import TopicMirror

_EXACTLY_ONCE_KEY = "exactly.once.support"
_ISOLATION = "isolation.level"
_SYNC_KEYS = ("offset-syncs.",)
_log = logging.getLogger(__name__)


class MirrorSourceConnector(SourceConnector):
    """Watches both clusters in a thread; moves no record itself."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}
        self._jobs: Jobs | None = None
        self._watch: Watch[dict[str, int]] = Watch(self._look, lambda: self.context, _tell)

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration, and begin to watch."""
        for found in self.validate(config):
            if found.errors:
                raise ConfigError(found.errors[0], key=found.name)
        self._config = dict(config)
        parsed = spec.CONFIG.parse(config)
        if not parsed[keys.ENABLED]:
            return
        clients = Clients(config, "topics")
        seconds, self._places = parsed[keys.ADMIN_TIMEOUT] / 1000, clients.places
        source = Cluster(clients.admin(keys.SOURCE_CLUSTER), clients.place(keys.SOURCE_CLUSTER), seconds)
        target = Cluster(clients.admin(keys.TARGET_CLUSTER), clients.place(keys.TARGET_CLUSTER), seconds)
        self._mirror = TopicMirror(config, source, target)
        self._syncs_made = not parsed[keys.EMIT_SYNCS]
        self._syncs_cluster = source if parsed[keys.SYNCS_LOCATION] == keys.AT_SOURCE else target
        self._parsed = parsed
        self._jobs = Jobs("mirror-topics", self.context)
        self._jobs.repeat(self._look_once, parsed[spec.REFRESH_INTERVAL], "looking for topics", at_once=True)
        if parsed[spec.SYNC_ACLS]:
            self._jobs.repeat(self._mirror.sync_acls, parsed[spec.SYNC_ACLS_INTERVAL], "taking over rights")
        if parsed[spec.SYNC_CONFIGS]:
            interval = parsed[spec.SYNC_CONFIGS_INTERVAL]
            self._jobs.repeat(self._mirror.sync_configs, interval, "taking over settings", at_once=True)
        self._jobs.start()

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Deal the partitions out in turn, so that the partitions of one topic come to different tasks.

        Raises:
            ConnectError: What is there is not known; RetriableError where that may pass.
        """
        if self._jobs is None:
            return []
        topics = self._watch.give(self._places)
        partitions = [f"{topic}-{n}" for topic, count in sorted(topics.items()) for n in range(count)]
        count = min(max_tasks, len(partitions))
        # `topics` of a task's configuration says what a sink reads, so a task of a source must not have it.
        shared = {key: value for key, value in self._config.items() if key != keys.TOPICS}
        return [
            {**shared, spec.PARTITIONS: ",".join(partitions[place::count]), spec.INDEX: str(place)}
            for place in range(count)
        ]

    def stop(self) -> None:
        """Stop watching."""
        if self._jobs is not None:
            self._jobs.stop()
        self._jobs = None

    def validate(self, config: Mapping[str, str | None]) -> list[ConfigValue]:
        """Check single keys, and which of them go together; no cluster is asked."""
        found = {value.name: value for value in spec.CONFIG.validate(config)}
        if config.get(_EXACTLY_ONCE_KEY) == "required" and not _reads_committed(config):
            found[_EXACTLY_ONCE_KEY] = ConfigValue(
                _EXACTLY_ONCE_KEY,
                value=config[_EXACTLY_ONCE_KEY],
                errors=[
                    f"source.consumer.{_ISOLATION} must be read_committed for exactly-once delivery: else "
                    "records of transactions that were aborted, or are still open, would be copied"
                ],
            )
        emits = str(config.get(keys.EMIT_SYNCS, "true")).strip().lower()
        set_up = [
            key
            for key in config
            if key.startswith(_SYNC_KEYS) and key not in (keys.SYNCS_LOCATION, keys.EMIT_SYNCS)
        ]
        if emits == "false" and (set_up or keys.SYNCS_LOCATION in config):
            found[keys.EMIT_SYNCS].errors.append(
                f"{keys.EMIT_SYNCS} is false, so that keys which begin with offset-syncs. have no effect: "
                "remove them, or set it to true"
            )
        return list(found.values())

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """Records of transactions that were aborted must not be read."""
        return ExactlyOnceSupport.SUPPORTED if _reads_committed(config) else ExactlyOnceSupport.UNSUPPORTED

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Accept partitions of topics, with offsets not below 0."""
        del config
        check_offsets(offsets, (spec.CLUSTER, spec.TOPIC), spec.PARTITION)
        return True

    def _look_once(self) -> str | None:
        if self._parsed[spec.REFRESH] or not self._watch.looked:
            self._watch.look()
        return self._mirror.missing

    def _look(self) -> dict[str, int]:
        if not self._syncs_made:
            make_syncs_topic(self._parsed, self._syncs_cluster, self._mirror.policy, spec.SYNCS_REPLICATION)
            self._syncs_made = True
        return self._mirror.follow()


def _tell(topics: dict[str, int]) -> None:
    _log.info("The topics have changed; tasks are divided anew over %d topics", len(topics))


def _reads_committed(config: Mapping[str, str | None]) -> bool:
    try:
        settings = Clients({k: v for k, v in config.items() if v is not None}, "").settings(
            keys.SOURCE_CLUSTER, "consumer."
        )
    except CopycatError:
        return False
    return settings.get(_ISOLATION) == "read_committed"
