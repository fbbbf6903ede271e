"""MirrorHeartbeat: makes the topic of heartbeats and has one task."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from copycat_connect.data import BYTES_SCHEMA, SourceBatch
from copycat_connect.plugin import SourceConnector, SourceTask
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_mirror.clients import Clients
from copycat_mirror.cluster import MirrorCluster
from copycat_mirror.heartbeat.plugin import (
    REPLICATION,
    SOURCE,
    TARGET,
    MirrorHeartbeatSettings,
)
from copycat_mirror.names import HEARTBEATS
from copycat_mirror.offsets import OFFSET, check_offsets
from copycat_mirror.records import Heartbeat
from copycat_mirror.settings import TARGET_CLUSTER
from copycat_mirror.syncs import make_internal_topic


class MirrorHeartbeatConnector(SourceConnector):
    """One task, however many there may be."""

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the configuration."""
        self._settings = MirrorHeartbeatSettings.parse(config)
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return one task, with its topic made; none where heartbeats are turned off."""
        del max_tasks
        settings = self._settings
        if not (settings.enabled and settings.emit_heartbeats_enabled):
            return []
        clients = Clients(self._config, "heartbeats")
        admin, place = clients.admin(TARGET_CLUSTER), clients.place(TARGET_CLUSTER)
        cluster = MirrorCluster(admin, place, settings.admin_seconds)
        make_internal_topic(cluster, HEARTBEATS, settings.heartbeats_topic_replication_factor, REPLICATION)
        return [self._config]

    def stop(self) -> None:
        """Do nothing: neither connector nor task keeps anything open between two calls."""

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Accept pairs of clusters, with the offset 0."""
        del config
        check_offsets(offsets, (SOURCE, TARGET), None, only_zero=True)
        return True


_LONGEST_WAIT_SECONDS = 0.5


class MirrorHeartbeatTask(SourceTask):
    """Asks nothing of any cluster: the framework writes its records to the target."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """Use a clock that gives seconds since the epoch."""
        self._clock = clock

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the configuration."""
        settings = MirrorHeartbeatSettings.parse(config)
        self._source, self._target = settings.source_alias, settings.target_alias
        self._interval = settings.emit_heartbeats_interval_seconds
        self._due = time.monotonic() + self._interval

    def poll(self) -> SourceBatch | None:
        """Return a heartbeat when it is due; nothing after a short wait."""
        left = self._due - time.monotonic()
        if left > 0:
            self.context.wait(min(left, _LONGEST_WAIT_SECONDS))
            return None
        self._due = time.monotonic() + self._interval
        beat = Heartbeat(self._source, self._target, int(self._clock() * 1000))
        return SourceBatch(
            HEARTBEATS,
            [beat.value()],
            value_schema=BYTES_SCHEMA,
            keys=[beat.key()],
            key_schema=BYTES_SCHEMA,
            source_partition={SOURCE: self._source, TARGET: self._target},
            source_offset={OFFSET: 0},
            kafka_partition=0,
            timestamps=[beat.timestamp],
        )

    def stop(self) -> None:
        """Do nothing: neither connector nor task keeps anything open between two calls."""
