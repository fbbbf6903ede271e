"""The task of the object sinks: gives each topic-partition its records, and commits their files."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from itertools import repeat
from operator import is_

from copycat_connect.config.delivery import Guarantee, guarantee_of_sink
from copycat_connect.data import SinkBatch, TopicPartition
from copycat_connect.errors import ConfigError, ConnectError, DataError, RetriableError
from copycat_connect.plugin import SinkTask

from copycat_objects.commit_log import FencedError
from copycat_objects.partition_writer import PartitionWriter
from copycat_objects.publication import publication_of
from copycat_objects.records import RecordColumns, by_partition
from copycat_objects.settings import SinkSettings
from copycat_objects.stores.store import Store

_log = logging.getLogger(__name__)
_NULL_VALUE = (
    "Null valued records are not writeable with current behavior.on.null.values 'settings. Set it to ignore, "
    "or drop them with the predicate RecordIsTombstone"
)
_MADE_ANEW = (
    "Topic {topic} was deleted and made anew, and {held} is of the former one: since files are found by "
    "offsets, which begin anew, records of the new topic would be left out, or would replace those. Have "
    "topics.dir (and logs.dir, where there is one) name other folders, or move away what there is of the "
    "topic, and restart the task; if it is restarted without that, it goes on so"
)


class ObjectSinkTask(SinkTask):
    """Writes records to temporary files in `put`; files that are complete appear in `pre_commit`."""

    def __init__(
        self, read: Callable[[Mapping[str, str]], SinkSettings], clock: Callable[[], float] = time.time
    ) -> None:
        """Say how a configuration is read; `clock` returns s since 1970."""
        self._read = read
        self._clock = clock
        self._store: Store | None = None
        self._writers: dict[TopicPartition, PartitionWriter] = {}
        self._lost: set[TopicPartition] = set()
        self._fenced: FencedError | None = None

    def start(self, config: Mapping[str, str]) -> None:
        """Connect to the store."""
        self._settings = settings = self._read(config)
        self._exactly_once = guarantee_of_sink(config) is Guarantee.EXACTLY_ONCE
        self._store = settings.open_store()

    def stored_positions(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Take over partitions from whoever wrote them, and return how far their files reach."""
        return self._claim(partitions)

    def open(self, partitions: Collection[TopicPartition]) -> None:
        """Go on behind what the store holds, wherever the consumer group is."""
        if not self._exactly_once:
            positions = self._claim(partitions)
            if positions:
                self.context.offset(positions)

    def made_anew(self, partitions: Collection[TopicPartition]) -> None:
        """Fail where the store holds files of the former topic: names and positions are offsets, as before.

        Raises:
            ConfigError: It does.
        """
        for partition in partitions:
            held = publication_of(self._opened, self._settings, partition).held()
            if held is not None:
                raise ConfigError(_MADE_ANEW.format(topic=partition.topic, held=held), key="topics.dir")

    def put(self, records: SinkBatch) -> None:
        """Write records; those that were taken before are left out."""
        if self._fenced is not None:
            # To take the partition back would bar its new owner, who would then do the same.
            raise self._fenced
        reread = self._find_again()
        for partition, found in by_partition(records).items() if records else ():
            if partition not in reread:
                self._put(partition, found)
        for partition, writer in self._writers.items():
            self._step(partition, writer.rotate_by_clock)
        if any(writer.has_sealed for writer in self._writers.values()):
            self.context.request_commit()

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """Make complete files appear, and return how far they reach."""
        found: dict[TopicPartition, int] = {}
        for partition, offset in offsets.items():
            writer = self._writers.get(partition)
            if writer is None or partition in self._lost:
                continue
            try:
                writer.commit()
            except FencedError as error:
                self._fenced = error
                raise
            except ConnectError:
                self._lost.update(self._writers)
                raise
            reached = writer.reached
            if reached is not None:
                found[partition] = min(reached, offset)
        return found

    def close(self, partitions: Collection[TopicPartition]) -> None:
        """Drop files that are not complete: their records are read again."""
        for partition in partitions:
            writer = self._writers.pop(partition, None)
            if writer is not None:
                writer.drop()

    def stop(self) -> None:
        """Let go of the store."""
        self.close(list(self._writers))
        store, self._store = self._store, None
        if store is not None:
            store.close()

    def _put(self, partition: TopicPartition, records: RecordColumns) -> None:
        writer = self._writer(partition)
        self._step(partition, lambda: writer.put(records, self._without_nulls))

    def _without_nulls(self, records: RecordColumns) -> RecordColumns:
        settings = self._settings
        if settings.null_values == "write" or not any(map(is_, records.values, repeat(None))):
            return records
        keep = [value is not None for value in records.values]
        if settings.null_values == "fail":
            for place, kept in enumerate(keep):
                if not kept:
                    self._report(records, place, DataError(_NULL_VALUE))
        return records.where(keep)

    def _step(self, partition: TopicPartition, step: Callable[[], None]) -> None:
        try:
            step()
        except RetriableError as error:
            # Nothing of what is open can be used: how much of it the store has is not known.
            _log.warning("%s is written anew from its last committed file: %s", partition, error)
            writer = self._writer(partition)
            writer.drop()
            if writer.committed is not None:
                self.context.offset({partition: writer.committed})
            self.context.wait(self._settings.retry_seconds)

    def _find_again(self) -> Collection[TopicPartition]:
        """After a commit that may have failed, find out; returns partitions that are read again."""
        if not self._lost:
            return ()
        positions = self._claim(self._lost)
        self.context.offset(positions)
        return positions.keys()

    def _claim(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        found = {partition: self._writer(partition).claim() for partition in list(partitions)}
        self._fenced = None
        self._lost.difference_update(found)
        return {partition: offset for partition, offset in found.items() if offset is not None}

    @property
    def _opened(self) -> Store:
        if self._store is None:
            raise ConnectError("ObjectSinkTask is not started")
        return self._store

    def _writer(self, partition: TopicPartition) -> PartitionWriter:
        writer = self._writers.get(partition)
        if writer is None:
            writer = self._writers[partition] = PartitionWriter(
                partition,
                self._settings,
                publication_of(self._opened, self._settings, partition),
                self._report,
                self._clock,
            )
        return writer

    def _report(self, records: RecordColumns, place: int, error: DataError) -> None:
        """Report a record that cannot be written.

        Raises:
            DataError: Nobody takes it.
        """
        reporter = self.context.errant_record_reporter
        if reporter is None:
            raise error
        reporter.report(records.record(place), error)
