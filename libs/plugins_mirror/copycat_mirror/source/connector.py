"""MirrorSource: divides the source's partitions among tasks, anew whenever topics come, grow or go."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from copycat_connect.config import ConfigValue
from copycat_connect.errors import ConfigError, CopycatError
from copycat_connect.plugin import ExactlyOnceSupport, SourceConnector
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_mirror.clients import Clients, refused_client_settings
from copycat_mirror.cluster import MirrorCluster
from copycat_mirror.jobs import DueJobs, Watch
from copycat_mirror.offsets import check_offsets
from copycat_mirror.settings import (
    EMIT_SYNCS,
    SOURCE_CLUSTER,
    SYNCS_LOCATION,
    TARGET_CLUSTER,
    TOPICS,
)
from copycat_mirror.source.plugin import (
    CLUSTER,
    INDEX,
    PARTITION,
    PARTITIONS,
    SYNCS_REPLICATION,
    TOPIC,
    MirrorSourceSettings,
)
from copycat_mirror.source.topics import TopicMirror
from copycat_mirror.syncs import make_internal_topic, syncs_topic

_EXACTLY_ONCE_KEY = "exactly.once.support"
_ISOLATION = "isolation.level"
_SYNC_KEYS = ("offset-syncs.",)
_log = logging.getLogger(__name__)


class MirrorSourceConnector(SourceConnector):
    """Watches both clusters in a thread; moves no record itself."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}
        self._jobs: DueJobs | None = None
        self._watch: Watch[dict[str, int]] = Watch(self._look, lambda: self.context, _tell)

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration, and begin to watch."""
        for found in self.validate(config):
            if found.errors:
                raise ConfigError(found.errors[0], key=found.name)
        self._config = dict(config)
        self._settings = settings = MirrorSourceSettings.parse(config)
        if not settings.enabled:
            return
        clients = Clients(config, "topics")
        seconds, self._places = settings.admin_seconds, clients.places
        source = MirrorCluster(clients.admin(SOURCE_CLUSTER), clients.place(SOURCE_CLUSTER), seconds)
        target = MirrorCluster(clients.admin(TARGET_CLUSTER), clients.place(TARGET_CLUSTER), seconds)
        self._mirror = TopicMirror(config, source, target)
        self._syncs_made = not settings.emit_syncs
        self._syncs_cluster = source if settings.syncs_at_source else target
        self._jobs = DueJobs("mirror-topics", self.context)
        interval = settings.refresh_topics_interval_seconds
        self._jobs.repeat(self._look_once, interval, "looking for topics", at_once=True)
        if settings.sync_topic_acls_enabled:
            interval = settings.sync_topic_acls_interval_seconds
            self._jobs.repeat(self._mirror.sync_acls, interval, "taking over rights")
        if settings.sync_topic_configs_enabled:
            interval = settings.sync_topic_configs_interval_seconds
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
        shared = {key: value for key, value in self._config.items() if key != TOPICS}
        return [
            {**shared, PARTITIONS: ",".join(partitions[place::count]), INDEX: str(place)}
            for place in range(count)
        ]

    def stop(self) -> None:
        """Stop watching."""
        if self._jobs is not None:
            self._jobs.stop()
        self._jobs = None

    def validate(self, config: Mapping[str, str | None]) -> list[ConfigValue]:
        """Check single keys, and which of them go together; no cluster is asked."""
        found = {value.name: value for value in MirrorSourceSettings.config_def().validate(config)}
        if config.get(_EXACTLY_ONCE_KEY) == "required" and not _reads_committed(config):
            found[_EXACTLY_ONCE_KEY] = ConfigValue(
                _EXACTLY_ONCE_KEY,
                value=config[_EXACTLY_ONCE_KEY],
                errors=[
                    f"source.consumer.{_ISOLATION} must be read_committed for exactly-once delivery: else "
                    "records of transactions that were aborted, or are still open, would be copied"
                ],
            )
        emits = str(config.get(EMIT_SYNCS, "true")).strip().lower()
        set_up = [
            key for key in config if key.startswith(_SYNC_KEYS) and key not in (SYNCS_LOCATION, EMIT_SYNCS)
        ]
        if emits == "false" and (set_up or SYNCS_LOCATION in config):
            found[EMIT_SYNCS].errors.append(
                f"{EMIT_SYNCS} is false, so that keys which begin with offset-syncs. have no effect: "
                "remove them, or set it to true"
            )
        return [*found.values(), *refused_client_settings(config)]

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
        check_offsets(offsets, (CLUSTER, TOPIC), PARTITION)
        return True

    def _look_once(self) -> str | None:
        if self._settings.refresh_topics_enabled or not self._watch.looked:
            self._watch.look()
        return self._mirror.missing

    def _look(self) -> dict[str, int]:
        if not self._syncs_made:
            topic = syncs_topic(self._settings, at_source=self._settings.syncs_at_source)
            replication = self._settings.syncs_replication_factor
            make_internal_topic(self._syncs_cluster, topic, replication, SYNCS_REPLICATION)
            self._syncs_made = True
        return self._mirror.follow()


def _tell(topics: dict[str, int]) -> None:
    _log.info("The topics have changed; tasks are divided anew over %d topics", len(topics))


def _reads_committed(config: Mapping[str, str | None]) -> bool:
    try:
        settings = Clients({k: v for k, v in config.items() if v is not None}, "").settings(
            SOURCE_CLUSTER, "consumer."
        )
    except CopycatError:
        return False
    return settings.get(_ISOLATION) == "read_committed"
