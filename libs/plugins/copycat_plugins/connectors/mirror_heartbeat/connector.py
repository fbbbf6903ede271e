"""MirrorHeartbeat: makes the topic of heartbeats and has one task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from copycat_connect.plugin import SourceConnector
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_plugins.connectors.mirror.clients import Clients
from copycat_plugins.connectors.mirror.cluster import Cluster
from copycat_plugins.connectors.mirror.offsets import check_offsets
from copycat_plugins.connectors.mirror.policy import HEARTBEATS
from copycat_plugins.connectors.mirror.settings import TARGET_CLUSTER
from copycat_plugins.connectors.mirror.syncs import make_internal_topic
from copycat_plugins.connectors.mirror_heartbeat.settings import (
    REPLICATION,
    SOURCE,
    TARGET,
    MirrorHeartbeatSettings,
)


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
        cluster = Cluster(admin, place, settings.admin_seconds)
        make_internal_topic(cluster, HEARTBEATS, settings.heartbeats_topic_replication_factor, REPLICATION)
        return [self._config]

    def stop(self) -> None:
        """Nothing is open."""

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Accept pairs of clusters, with the offset 0."""
        del config
        check_offsets(offsets, (SOURCE, TARGET), None, only_zero=True)
        return True
