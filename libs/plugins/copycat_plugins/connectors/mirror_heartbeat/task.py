"""MirrorHeartbeat's task: one record at each interval."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from copycat_connect.data import BYTES_SCHEMA, SourceBatch
from copycat_connect.plugin import SourceTask

from copycat_plugins.connectors.mirror.offsets import OFFSET
from copycat_plugins.connectors.mirror.policy import HEARTBEATS
from copycat_plugins.connectors.mirror.records import Heartbeat
from copycat_plugins.connectors.mirror_heartbeat.settings import SOURCE, TARGET, MirrorHeartbeatSettings

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
        """Nothing is open."""
