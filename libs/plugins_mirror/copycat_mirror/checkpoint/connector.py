"""MirrorCheckpoint: divides the source's groups among tasks, anew whenever groups come or go."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from copycat_connect.config import ConfigValue
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import SourceConnector
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_mirror.checkpoint.plugin import (
    ASSIGNED,
    EMIT,
    GROUP,
    GROUPS,
    GROUPS_EXCLUDE,
    INDEX,
    PARTITION,
    REPLICATION,
    TASK_TOPICS,
    TOPIC,
    MirrorCheckpointSettings,
)
from copycat_mirror.clients import Clients
from copycat_mirror.cluster import MirrorCluster
from copycat_mirror.jobs import DueJobs, Watch
from copycat_mirror.names import NameFilter
from copycat_mirror.offsets import check_offsets
from copycat_mirror.settings import (
    EMIT_SYNCS,
    ENABLED,
    SOURCE_CLUSTER,
    TARGET_CLUSTER,
    TOPICS,
    TOPICS_EXCLUDE,
    TOPICS_EXCLUDE_DEFAULT,
)
from copycat_mirror.syncs import make_internal_topic

_ANY = ".*"
_log = logging.getLogger(__name__)


class MirrorCheckpointConnector(SourceConnector):
    """Looks for groups in a thread; moves no data itself."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}
        self._jobs: DueJobs | None = None
        self._watch: Watch[list[str]] = Watch(self._look, lambda: self.context, _tell)
        self._topic_made = False

    def start(self, config: Mapping[str, str]) -> None:
        """Check the configuration, and begin to look for groups."""
        for found in self.validate(config):
            if found.errors:
                raise ConfigError(found.errors[0], key=found.name)
        self._config = dict(config)
        self._settings = settings = MirrorCheckpointSettings.parse(config)
        if not settings.enabled:
            return
        clients, seconds = Clients(config, "groups"), settings.admin_seconds
        self._places = clients.places
        ends = (SOURCE_CLUSTER, TARGET_CLUSTER)
        self._source, self._target = (
            MirrorCluster(clients.admin(end), clients.place(end), seconds) for end in ends
        )
        self._wanted = NameFilter({GROUPS: settings.groups}, {GROUPS_EXCLUDE: settings.groups_exclude})
        self._topics = topic_filter(config, TOPICS)
        self._jobs = DueJobs("mirror-groups", self.context)
        interval = settings.refresh_groups_interval_seconds
        self._jobs.repeat(self._look_once, interval, "looking for groups", at_once=True)
        self._jobs.start()

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return groups in their order, divided evenly.

        Raises:
            ConnectError: What is there is not known; RetriableError where that may pass.
        """
        if self._jobs is None:
            return []
        groups = self._watch.give(self._places)
        count = min(max_tasks, len(groups))
        # `topics` of a task's configuration says what a sink reads, so a task of a source must not have it.
        shared = {key: value for key, value in self._config.items() if key != TOPICS}
        shared[TASK_TOPICS] = self._config.get(TOPICS, ".*")
        return [
            {**shared, ASSIGNED: ",".join(groups[place::count]), INDEX: str(place)} for place in range(count)
        ]

    def stop(self) -> None:
        """Stop looking."""
        if self._jobs is not None:
            self._jobs.stop()
        self._jobs = None

    def validate(self, config: Mapping[str, str | None]) -> list[ConfigValue]:
        """Check single keys, and that there is something to work with; no cluster is asked."""
        found = {value.name: value for value in MirrorCheckpointSettings.config_def().validate(config)}
        if _is(config, ENABLED, "false"):
            return list(found.values())
        if _is(config, EMIT, "false"):
            found[EMIT].errors.append(
                f"{EMIT} must not be false: it is all this connector does. {ENABLED}=false stops it"
            )
        if _is(config, EMIT_SYNCS, "false"):
            text = f"{EMIT_SYNCS} must not be false: checkpoints are made from offset syncs"
            found[EMIT_SYNCS] = ConfigValue(EMIT_SYNCS, value="false", errors=[text])
        return list(found.values())

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Accept partitions of groups, with the offset 0."""
        del config
        check_offsets(offsets, (GROUP, TOPIC), PARTITION, only_zero=True)
        return True

    def _look_once(self) -> str | None:
        if self._settings.refresh_groups_enabled or not self._watch.looked:
            self._watch.look()
        groups = self._settings.groups
        if self._watch.found or groups == (_ANY,):
            return None
        return f"groups at {self._places}: none of those that {GROUPS}={','.join(groups)} chooses is there"

    def _look(self) -> list[str]:
        if not self._topic_made:
            topic = self._settings.policy.checkpoints_topic(self._settings.source_alias)
            replication = self._settings.checkpoints_topic_replication_factor
            make_internal_topic(self._target, topic, replication, REPLICATION)
            self._topic_made = True
        return [group for group in self._source.groups() if self._wanted.takes(group) and self._reads(group)]

    def _reads(self, group: str) -> bool:
        return any(self._topics.takes(topic) for topic, _ in self._source.group_offsets(group))


def topic_filter(config: Mapping[str, str], key: str) -> NameFilter:
    """Return the topics of which checkpoints are written: those that a key has, but for the excluded."""
    include = config.get(key, ".*").split(",")
    exclude = config.get(TOPICS_EXCLUDE, TOPICS_EXCLUDE_DEFAULT).split(",")
    return NameFilter(
        {key: [each.strip() for each in include]},
        {TOPICS_EXCLUDE: [each.strip() for each in exclude]},
    )


def _tell(groups: list[str]) -> None:
    _log.info("The groups have changed; tasks are divided anew over %d of them", len(groups))


def _is(config: Mapping[str, str | None], key: str, text: str) -> bool:
    return (config.get(key) or "").strip().lower() == text
