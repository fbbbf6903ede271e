"""MirrorSource's task: reads its partitions and hands their records on as they are."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from typing import cast

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from copycat_connect.config.client_choices import OFFSET_RESET, OffsetReset, ResetTo
from copycat_connect.data import (
    BYTES_SCHEMA,
    OPTIONAL_BYTES_SCHEMA,
    ConnectValue,
    RecordMetadata,
    SourceBatch,
)
from copycat_connect.data.batches import RawHeaders
from copycat_connect.data.java import parse_integer
from copycat_connect.errors import ConfigError, ConnectError, RetriableError
from copycat_connect.plugin import SourceTask
from copycat_connect.topic_ids import Ask, TopicIds

from copycat_mirror.clients import Clients
from copycat_mirror.settings import SOURCE_CLUSTER, TARGET_CLUSTER
from copycat_mirror.source.plugin import (
    CLUSTER,
    INDEX,
    OFFSET,
    PARTITION,
    PARTITIONS,
    TOPIC,
    MirrorSourceSettings,
)
from copycat_mirror.source.sync_writer import Mark, SyncPlan, SyncWriter
from copycat_mirror.syncs import syncs_topic

_LONGEST_WAIT_SECONDS = 0.5
_BATCH_RECORDS = 5000
#: Between two looks whether topics are still those that are read.
_LOOK_SECONDS = 10.0
_log = logging.getLogger(__name__)


class MirrorSourceTask(SourceTask):
    """Gives one run of records of one partition a poll, as columns; nothing is decoded."""

    def __init__(self) -> None:
        self._consumer: Consumer | None = None
        self._syncs: SyncWriter | None = None
        self._waiting: deque[SourceBatch] = deque()

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the partitions, and where each goes on."""
        own = MirrorSourceSettings.parse(config)
        self._alias, self._policy = own.source_alias, own.policy
        self._wait = min(own.poll_seconds, _LONGEST_WAIT_SECONDS)
        clients = Clients(config, f"replication-consumer-{config.get(INDEX, '?')}")
        settings = clients.settings(SOURCE_CLUSTER, "consumer.")
        self._most = _most_records(settings.get("max.poll.records"))
        self._remote: dict[str, str] = {}
        self._where: dict[tuple[str, int], dict[str, ConnectValue]] = {}
        self._plan = SyncPlan(own.offset_lag_max)
        if own.emit_syncs:
            at_source = own.syncs_at_source
            producer = clients.producer(SOURCE_CLUSTER if at_source else TARGET_CLUSTER)
            self._syncs = SyncWriter(producer, syncs_topic(own, at_source=at_source))
        reset = _beginning(settings.get(OFFSET_RESET) or "earliest")
        self._consumer = clients.consumer(SOURCE_CLUSTER)
        positions = self._positions(config.get(PARTITIONS) or "", reset)
        self._ids = TopicIds(_asker(clients.admin(SOURCE_CLUSTER), own.admin_seconds), _LOOK_SECONDS)
        self._ids.begin(topic for topic, _ in self._where)
        self._consumer.assign(self._since(positions, reset, own.admin_seconds))

    def poll(self) -> SourceBatch | None:
        """Return the next records of one partition; nothing when none came within a short time."""
        if not self._waiting:
            self._begin_anew(self._ids.replaced(wait=False))
            self._waiting.extend(self._batches(self._read()))
        return self._waiting.popleft() if self._waiting else None

    def commit_watched(self, mark: object, metadata: RecordMetadata | None) -> None:
        """Write where a record is at the target, now or with the next commit."""
        if self._syncs is not None and isinstance(mark, Mark) and metadata is not None:
            self._syncs.note(mark, metadata.offset)

    def commit(self) -> None:
        """Write where the last records are."""
        if self._syncs is not None:
            self._syncs.commit()

    def stop(self) -> None:
        """Write the last offset syncs, and let go of the connections."""
        if self._syncs is not None:
            self._syncs.close()
        self._syncs = None
        if self._consumer is not None:
            self._consumer.close()
        self._consumer = None

    def _begin_anew(self, topics: Collection[str]) -> None:
        """Read topics from their beginning that were deleted and made anew: their offsets are others."""
        assert self._consumer is not None  # made by `start`
        for topic, partition in self._where:
            if topic in topics:
                _log.warning("%s-%d of %s was made anew, and is read anew", topic, partition, self._alias)
                self._consumer.seek(TopicPartition(topic, partition, OFFSET_BEGINNING))

    def _read(self) -> list[Message]:
        """Wait for the first record only: the client waits for all that it is asked for."""
        assert self._consumer is not None  # made by `start`
        first = self._consumer.consume(1, self._wait)
        return first + self._consumer.consume(self._most - 1, 0) if first and self._most > 1 else first

    def _positions(self, assigned: str, reset: OffsetReset) -> list[TopicPartition]:
        for each in filter(None, assigned.split(",")):
            topic, _, number = each.rpartition("-")
            self._remote[topic] = self._policy.remote_topic(self._alias, topic)
            # The order in which MirrorMaker writes them: so its offsets are these, to the byte.
            self._where[topic, int(number)] = {
                CLUSTER: self._alias,
                PARTITION: int(number),
                TOPIC: topic,
            }
        stored = self.context.offsets(list(self._where.values()))
        positions = []
        for (name, place), offset in zip(self._where, stored, strict=True):
            last = None if offset is None else offset.get(OFFSET)
            known = isinstance(last, int) and last >= 0
            start = cast("int", last) + 1 if known else _STARTS[reset.to]
            positions.append(TopicPartition(name, place, start))
        return positions

    def _since(
        self, positions: list[TopicPartition], reset: OffsetReset, seconds: float
    ) -> list[TopicPartition]:
        """Ask where the age begins that `reset` names, for the partitions without a position."""
        new = [each for each in positions if each.offset < 0]
        if reset.age is None or not new:
            return positions
        assert self._consumer is not None  # made by `start`
        since = max(int((time.time() - reset.age.total_seconds()) * 1000), 0)
        asked = [TopicPartition(each.topic, each.partition, since) for each in new]
        text = f"Cannot find the records of {self._alias} that are no older than {reset.age}"
        try:
            found = self._consumer.offsets_for_times(asked, timeout=seconds)
        except KafkaException as error:
            raise RetriableError(text) from error
        if any(each.error for each in found):
            raise RetriableError(text)
        return [each for each in positions if each.offset >= 0] + found

    def _batches(self, messages: list[Message]) -> Iterator[SourceBatch]:
        for (topic, partition), run in self._runs(messages):
            records = [each for each in run if each.error() is None or self._note(each)]
            if records:
                yield self._batch(topic, partition, records)

    def _runs(self, messages: list[Message]) -> Iterable[tuple[tuple[str, int], Iterable[Message]]]:
        """Return the runs of one partition each; where there is only one, nothing is asked of a record."""
        if len(self._where) == 1:
            return zip(self._where, [messages], strict=True)
        return groupby(messages, key=_where)

    def _batch(self, topic: str, partition: int, records: list[Message]) -> SourceBatch:
        # By the methods of the class: nothing of Python runs for a record.
        headers = [*map(Message.headers, records)]
        upstream = cast("list[int]", [*map(Message.offset, records)])
        return SourceBatch(
            self._remote[topic],
            [*map(Message.value, records)],
            value_schema=BYTES_SCHEMA,
            keys=[*map(Message.key, records)],
            key_schema=OPTIONAL_BYTES_SCHEMA,
            source_partition=self._where[topic, partition],
            source_offset={OFFSET: upstream[-1]},
            offsets=lambda: [{OFFSET: each} for each in upstream],
            kafka_partition=partition,
            timestamps=_timestamps(records),
            headers=[cast("RawHeaders", each or ()) for each in headers] if any(headers) else None,
            watched=None if self._syncs is None else self._plan.choose(topic, partition, upstream),
        )

    def _note(self, message: Message) -> bool:
        """Deal with what is no record: log it, or fail."""
        error = message.error()
        assert error is not None  # asked by the caller
        text = f"Reading {message.topic()}-{message.partition()} of {self._alias} failed: {error.str()}"
        if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            refused = f"{text}. Allow the user of source.cluster.* to read the topic, and restart the task"
            raise ConnectError(refused)
        _log.warning("%s", text)
        return False


def _asker(admin: AdminClient, seconds: float) -> Ask:
    return lambda topics: admin.describe_topics(TopicCollection(list(topics)), request_timeout=seconds)


def _where(message: Message) -> tuple[str, int]:
    return message.topic() or "", message.partition() or 0


def _timestamps(records: list[Message]) -> list[int | None]:
    stamps = [*map(Message.timestamp, records)]
    kinds, times = zip(*stamps, strict=True)
    if TIMESTAMP_NOT_AVAILABLE not in kinds:
        return [*times]
    return [None if kind == TIMESTAMP_NOT_AVAILABLE else time for kind, time in stamps]


_STARTS = {ResetTo.BEGINNING: int(OFFSET_BEGINNING), ResetTo.END: int(OFFSET_END)}


def _beginning(value: str) -> OffsetReset:
    """Read where partitions without a stored offset begin."""
    with suppress(ValueError):
        reset = OffsetReset.of(value)
        if reset.to in _STARTS:
            return reset
    raise ConfigError(
        f"source.consumer.{OFFSET_RESET} must be earliest, latest or by_duration: with a duration as in "
        "by_duration:PT1H: a partition has no stored offset yet, so that there must be a place to begin",
        key=f"source.consumer.{OFFSET_RESET}",
    )


def _most_records(given: str | None) -> int:
    number = parse_integer(given or "", 32)
    return number if number is not None and number > 0 else _BATCH_RECORDS
