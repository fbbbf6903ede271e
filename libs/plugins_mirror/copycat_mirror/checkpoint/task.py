"""MirrorCheckpoint's task: translates the offsets of its groups at each interval."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition
from copycat_connect.data import BYTES_SCHEMA, SourceBatch
from copycat_connect.errors import ConnectError, DataError, RetriableError
from copycat_connect.plugin import SourceTask

from copycat_mirror.checkpoint.connector import topic_filter
from copycat_mirror.checkpoint.plugin import (
    ASSIGNED,
    GROUP,
    INDEX,
    PARTITION,
    TASK_TOPICS,
    TOPIC,
    MirrorCheckpointSettings,
)
from copycat_mirror.clients import Clients
from copycat_mirror.cluster import MirrorCluster
from copycat_mirror.names import DefaultPolicy
from copycat_mirror.offsets import OFFSET
from copycat_mirror.records import Checkpoint, OffsetSync
from copycat_mirror.settings import SOURCE_CLUSTER, TARGET_CLUSTER
from copycat_mirror.syncs import OffsetTranslation, syncs_topic

_UpstreamOffsets = Mapping[tuple[str, int], tuple[int, str]]
"""By topic and partition of the source: offset and metadata."""


class Checkpoints:
    """What was written last, in this life or an earlier one."""

    def __init__(self, groups: Iterable[str], policy: DefaultPolicy, source: str, target: str) -> None:
        """Use the groups, the policy and the aliases of both clusters."""
        self._groups = frozenset(groups)
        self._policy, self._source, self._target = policy, source, target
        self._newest: dict[tuple[str, str, int], Checkpoint] = {}

    def restore(self, key: bytes, value: bytes | None) -> None:
        """Apply a record of the topic; those of other groups, and such as nobody can read, are left out."""
        if value is None:
            return
        try:
            checkpoint = Checkpoint.read(key, value)
        except DataError:
            return
        if checkpoint.group in self._groups:
            self._newest[_place(checkpoint)] = checkpoint

    def advance(
        self, group: str, offsets: _UpstreamOffsets, translation: OffsetTranslation
    ) -> list[Checkpoint]:
        """Return the checkpoints of a group that are to be written now, and remember them."""
        found = []
        for (topic, partition), (upstream, metadata) in offsets.items():
            downstream = translation.translate(topic, partition, upstream)
            if downstream is None or downstream < 0:
                continue
            checkpoint = Checkpoint(group, self._at_target(topic), partition, upstream, downstream, metadata)
            if self._is_news(checkpoint):
                self._newest[_place(checkpoint)] = checkpoint
                found.append(checkpoint)
        return found

    def of(self, group: str) -> list[Checkpoint]:
        """Return the newest checkpoints of a group."""
        return [checkpoint for checkpoint in self._newest.values() if checkpoint.group == group]

    def _is_news(self, checkpoint: Checkpoint) -> bool:
        before = self._newest.get(_place(checkpoint))
        if before is None or checkpoint.upstream < before.upstream:
            return True  # a group that was set back at the source is set back at the target
        return checkpoint.downstream > before.downstream

    def _at_target(self, topic: str) -> str:
        if self._policy.source_of(topic) == self._target:
            return self._policy.original_topic(topic)  # it came from there: a group comes home
        return self._policy.remote_topic(self._source, topic)


def _place(checkpoint: Checkpoint) -> tuple[str, str, int]:
    return checkpoint.group, checkpoint.topic, checkpoint.partition


_log = logging.getLogger(__name__)


def _sync_group(target: MirrorCluster, group: str, checkpoints: list[Checkpoint]) -> int:
    """Move a group's offsets at the target forward; returns how many were moved.

    Only of a group that has no members there, or is not known there yet, and never back: a consumer that went
    over to the target has read further.

    Raises:
        RetriableError: The cluster is away.
    """
    empty = target.group_is_empty(group)
    if empty is False or not checkpoints:
        return 0
    there = {} if empty is None else target.group_offsets(group)
    moved = [
        TopicPartition(each.topic, each.partition, each.downstream, each.metadata)
        for each in checkpoints
        if (now := there.get((each.topic, each.partition))) is None or now.offset < each.downstream
    ]
    if not moved:
        return 0
    try:
        target.set_group_offsets(group, moved)
    except RetriableError:
        raise
    except ConnectError as error:
        _log.warning("%s. Members that came meanwhile keep their own offsets", error.message)
        return 0
    return len(moved)


_BATCH = 1000
_FIRST_ANSWER_SECONDS = 5.0
_END = "_PARTITION_EOF"


class _GrowingTopic:
    """Partition 0 of a topic, from its beginning."""

    SETTINGS: Final = MappingProxyType({"enable.partition.eof": "true"})
    """What the consumer must be made with."""

    def __init__(self, consumer: Consumer, topic: str) -> None:
        """Use a consumer that nobody else uses."""
        self._consumer = consumer
        self._topic = topic
        self._assigned = False
        self.read = False
        """Whether the end was reached once."""

    def records(self, seconds: float) -> Iterator[tuple[bytes, bytes | None]]:
        """Yield keys and values of what comes within some seconds; None for one that was deleted.

        Raises:
            RetriableError: The cluster is away, or the topic is not there yet.
            ConnectError: It may not be read.
        """
        self._assign()
        for message in self._consumer.consume(_BATCH, seconds):
            error = message.error()
            if error is None:
                if (key := message.key()) is not None:
                    yield key, message.value()
            elif error.name() == _END:
                self.read = True
            elif error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                self._refuse(error)
            else:
                _log.warning("Reading %s failed, going on: %s", self._topic, error.str())

    def close(self) -> None:
        """Let go of the connections."""
        self._consumer.close()

    def _assign(self) -> None:
        if self._assigned:
            return
        where = TopicPartition(self._topic, 0, OFFSET_BEGINNING)
        try:
            self._consumer.get_watermark_offsets(where, timeout=_FIRST_ANSWER_SECONDS)
        except KafkaException as failure:
            error = failure.args[0]
            if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                self._refuse(error)
            raise RetriableError(f"Topic {self._topic} cannot be read yet: {error.str()}") from failure
        self._consumer.assign([where])
        self._assigned = True

    def _refuse(self, error: KafkaError) -> None:
        raise ConnectError(
            f"Topic {self._topic} may not be read: {error.str()}. Allow the user of this client to read it"
        )


_POLL_SECONDS = 0.25


class MirrorCheckpointTask(SourceTask):
    """Reads earlier checkpoints first, then all offset syncs; only then it translates."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """Use a clock that gives seconds since the epoch."""
        self._clock = clock
        self._earlier: _GrowingTopic | None = None
        self._syncs: _GrowingTopic | None = None
        self._waiting: deque[SourceBatch] = deque()

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the groups; both topics are read by `poll`."""
        self._settings = settings = MirrorCheckpointSettings.parse(config)
        source, target, policy = settings.source_alias, settings.target_alias, settings.policy
        clients = Clients(config, f"checkpoints-{config.get(INDEX, '?')}")
        self._groups = [each for each in (config.get(ASSIGNED) or "").split(",") if each]
        self._topics = topic_filter(config, TASK_TOPICS)
        self._topic = policy.checkpoints_topic(source)
        self._emit_due = self._sync_due = time.monotonic()
        seconds = settings.admin_seconds
        self._source = MirrorCluster(clients.admin(SOURCE_CLUSTER), source, seconds)
        self._target = MirrorCluster(clients.admin(TARGET_CLUSTER), target, seconds)
        self._checkpoints = Checkpoints(self._groups, policy, source, target)
        self._translation = OffsetTranslation()
        at_source = settings.syncs_at_source
        self._earlier = _topic(clients, TARGET_CLUSTER, self._topic)
        syncs_cluster = SOURCE_CLUSTER if at_source else TARGET_CLUSTER
        self._syncs = _topic(clients, syncs_cluster, syncs_topic(settings, at_source=at_source))

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
            self._emit_due = time.monotonic() + self._settings.emit_checkpoints_interval_seconds
        elif self._settings.sync_group_offsets_enabled and now >= self._sync_due:
            for group in self._groups:
                moved = _sync_group(self._target, group, self._checkpoints.of(group))
                if moved:
                    _log.info("Group %s: %d offsets at the target were moved on", group, moved)
            self._sync_due = time.monotonic() + self._settings.sync_group_offsets_interval_seconds

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
                GROUP: checkpoint.group,
                PARTITION: checkpoint.partition,
                TOPIC: checkpoint.topic,
            },
            source_offset={OFFSET: 0},
            kafka_partition=0,
            timestamps=[int(self._clock() * 1000)],
        )


def _topic(clients: Clients, cluster: str, topic: str) -> _GrowingTopic:
    return _GrowingTopic(clients.consumer(cluster, _GrowingTopic.SETTINGS), topic)
