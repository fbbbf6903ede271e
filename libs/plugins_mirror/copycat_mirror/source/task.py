"""MirrorSource's task: reads its partitions and hands their records on as they are."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import cast

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    Message,
    TopicPartition,
)
from copycat_connect.data import (
    BYTES_SCHEMA,
    OPTIONAL_BYTES_SCHEMA,
    ConnectValue,
    RecordMetadata,
    SourceBatch,
)
from copycat_connect.data.batches import RawHeaders
from copycat_connect.data.java import parse_integer
from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.plugin import SourceTask

from copycat_mirror.clients import Clients
from copycat_mirror.settings import SOURCE_CLUSTER, TARGET_CLUSTER
from copycat_mirror.source.settings import (
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
_RESET = "auto.offset.reset"
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
        self._consumer = clients.consumer(SOURCE_CLUSTER)
        self._consumer.assign(self._positions(config.get(PARTITIONS) or "", settings.get(_RESET)))

    def poll(self) -> SourceBatch | None:
        """Return the next records of one partition; nothing when none came within a short time."""
        if not self._waiting:
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

    def _read(self) -> list[Message]:
        """Wait for the first record only: the client waits for all that it is asked for."""
        assert self._consumer is not None  # made by `start`
        first = self._consumer.consume(1, self._wait)
        return first + self._consumer.consume(self._most - 1, 0) if first and self._most > 1 else first

    def _positions(self, assigned: str, reset: str | None) -> list[TopicPartition]:
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
            start = cast("int", last) + 1 if known else _beginning(reset)
            positions.append(TopicPartition(name, place, start))
        return positions

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


def _where(message: Message) -> tuple[str, int]:
    return message.topic() or "", message.partition() or 0


def _timestamps(records: list[Message]) -> list[int | None]:
    stamps = [*map(Message.timestamp, records)]
    kinds, times = zip(*stamps, strict=True)
    if TIMESTAMP_NOT_AVAILABLE not in kinds:
        return [*times]
    return [None if kind == TIMESTAMP_NOT_AVAILABLE else time for kind, time in stamps]


def _beginning(reset: str | None) -> int:
    match (reset or "earliest").lower():
        case "earliest":
            return int(OFFSET_BEGINNING)
        case "latest":
            return int(OFFSET_END)
        case _:
            raise ConfigError(
                f"source.consumer.{_RESET} must be earliest or latest: a partition has no stored offset yet, "
                "so that there must be a place to begin",
                key=f"source.consumer.{_RESET}",
            )


def _most_records(given: str | None) -> int:
    number = parse_integer(given or "", 32)
    return number if number is not None and number > 0 else _BATCH_RECORDS
