"""MirrorCheckpoint's task: translates the offsets of its groups at each interval."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping

from copycat_connect.data import BYTES_SCHEMA, SourceBatch
from copycat_connect.errors import ConnectError, DataError, RetriableError
from copycat_connect.plugin import SourceTask

from copycat_plugins.connectors.mirror import keys
from copycat_plugins.connectors.mirror.clients import Clients
from copycat_plugins.connectors.mirror.cluster import Cluster
from copycat_plugins.connectors.mirror.offsets import OFFSET
from copycat_plugins.connectors.mirror.policy import policy_of
from copycat_plugins.connectors.mirror.records import Checkpoint, OffsetSync
from copycat_plugins.connectors.mirror.syncs import OffsetTranslation, syncs_topic
from copycat_plugins.connectors.mirror_checkpoint import spec
from copycat_plugins.connectors.mirror_checkpoint.checkpoints import Checkpoints
from copycat_plugins.connectors.mirror_checkpoint.connector import topic_filter
from copycat_plugins.connectors.mirror_checkpoint.group_sync import sync_group
from copycat_plugins.connectors.mirror_checkpoint.read_to_end import GrowingTopic

_POLL_SECONDS = 0.25
_log = logging.getLogger(__name__)


class MirrorCheckpointTask(SourceTask):
    """Reads earlier checkpoints first, then all offset syncs; only then it translates."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """Take a clock that gives seconds since the epoch."""
        self._clock = clock
        self._earlier: GrowingTopic | None = None
        self._syncs: GrowingTopic | None = None
        self._waiting: deque[SourceBatch] = deque()

    def start(self, config: Mapping[str, str]) -> None:
        """Take the groups; both topics are read by `poll`."""
        parsed = spec.CONFIG.parse(config)
        source, target = parsed[keys.SOURCE_ALIAS], parsed[keys.TARGET_ALIAS]
        policy, clients = policy_of(parsed), Clients(config, f"checkpoints-{config.get(spec.INDEX, '?')}")
        self._groups = [each for each in (config.get(spec.ASSIGNED) or "").split(",") if each]
        self._topics = topic_filter(config, spec.TASK_TOPICS)
        self._topic = policy.checkpoints_topic(source)
        self._emit_interval: float = parsed[spec.EMIT_INTERVAL]
        self._sync_interval: float | None = parsed[spec.SYNC_INTERVAL] if parsed[spec.SYNC] else None
        self._emit_due = self._sync_due = time.monotonic()
        seconds = parsed[keys.ADMIN_TIMEOUT] / 1000
        self._source = Cluster(clients.admin(keys.SOURCE_CLUSTER), source, seconds)
        self._target = Cluster(clients.admin(keys.TARGET_CLUSTER), target, seconds)
        self._checkpoints = Checkpoints(self._groups, policy, source, target)
        self._translation = OffsetTranslation()
        at_source = parsed[keys.SYNCS_LOCATION] == keys.AT_SOURCE
        self._earlier = _topic(clients, keys.TARGET_CLUSTER, self._topic)
        syncs_cluster = keys.SOURCE_CLUSTER if at_source else keys.TARGET_CLUSTER
        self._syncs = _topic(clients, syncs_cluster, syncs_topic(parsed, policy))

    def poll(self) -> SourceBatch | None:
        """Return checkpoints of one partition of a group that are new; nothing after a short wait."""
        if not self._waiting and self._is_ready():
            self._work()
        return self._waiting.popleft() if self._waiting else None

    def stop(self) -> None:
        """Let go of the connections."""
        for topic in (self._earlier, self._syncs):
            if topic is not None:
                topic.close()
        self._earlier = self._syncs = None

    def _is_ready(self) -> bool:
        """Read on in both topics; False until each was read to the end it had."""
        if self._earlier is not None:
            try:
                for key, value in self._earlier.records(_POLL_SECONDS):
                    self._checkpoints.restore(key, value)
            except RetriableError:
                raise
            except ConnectError as error:
                _log.warning(
                    "%s. Until then offsets are translated with new offset syncs only", error.message
                )
                self._translation.keeps_history = False
            else:
                if not self._earlier.read:
                    return False
            self._earlier.close()
            self._earlier = None
        assert self._syncs is not None  # made by `start`
        for key, value in self._syncs.records(_POLL_SECONDS):
            self._take_sync(key, value)
        self._translation.ready = self._syncs.read
        return self._translation.ready

    def _take_sync(self, key: bytes, value: bytes | None) -> None:
        if value is None:
            return
        try:
            self._translation.add(OffsetSync.read(key, value))
        except DataError as error:
            _log.warning("An offset sync cannot be read and is left out: %s", error.message)

    def _work(self) -> None:
        now = time.monotonic()
        if now >= self._emit_due:
            for group in self._groups:
                self._translate(group)
            self._emit_due = time.monotonic() + self._emit_interval
        elif self._sync_interval is not None and now >= self._sync_due:
            for group in self._groups:
                moved = sync_group(self._target, group, self._checkpoints.of(group))
                if moved:
                    _log.info("Group %s: %d offsets at the target were moved on", group, moved)
            self._sync_due = time.monotonic() + self._sync_interval

    def _translate(self, group: str) -> None:
        try:
            found = self._source.group_offsets(group)
        except RetriableError:
            raise
        except ConnectError as error:
            _log.warning("%s", error.message)
            return
        offsets = {
            where: (each.offset, each.metadata or "")
            for where, each in found.items()
            if self._topics.takes(where[0])
        }
        for checkpoint in self._checkpoints.advance(group, offsets, self._translation):
            self._waiting.append(self._batch(checkpoint))

    def _batch(self, checkpoint: Checkpoint) -> SourceBatch:
        return SourceBatch(
            self._topic,
            [checkpoint.value()],
            value_schema=BYTES_SCHEMA,
            keys=[checkpoint.key()],
            key_schema=BYTES_SCHEMA,
            source_partition={
                spec.GROUP: checkpoint.group,
                spec.PARTITION: checkpoint.partition,
                spec.TOPIC: checkpoint.topic,
            },
            source_offset={OFFSET: 0},
            kafka_partition=0,
            timestamps=[int(self._clock() * 1000)],
        )


def _topic(clients: Clients, cluster: str, topic: str) -> GrowingTopic:
    return GrowingTopic(clients.consumer(cluster, GrowingTopic.SETTINGS), topic)
