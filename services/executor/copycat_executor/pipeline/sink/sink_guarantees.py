"""The guarantees of delivery to a sink: where each begins, and when it commits."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from copycat_connect.cluster import TopicPartition

from copycat_executor.pipeline.records.receiver import KafkaMessage
from copycat_executor.pipeline.sink.sink_delivery import Offsets, SinkDelivery
from copycat_executor.pipeline.task.stages import DrainedError, Stage, failing

_log = logging.getLogger(__name__)


class AtLeastOnceSink(SinkDelivery):
    """Begins at the group's positions, and goes back to them after a flush that failed."""

    def prepare(self) -> None:
        """Do nothing: what a former task still writes is a repeat."""

    def begin(self) -> dict[TopicPartition, int]:
        """Begin at the positions that came with the order."""
        return self._begin_at(self._runtime.partitions)

    def received(self, messages: list[KafkaMessage]) -> list[KafkaMessage]:
        """Do nothing: positions follow the data."""
        return messages

    def _flush_failed(self) -> bool:
        _log.warning("The task continues from the last committed offsets")
        self.seek(self._progress.committed)
        return True


class AtMostOnceSink(SinkDelivery):
    """Gives the task only what is committed already; never goes back.

    What is read is lost when the process ends between the commit and the end of the task's write. A batch
    that `put` refused with RetriableError was not taken, and is given again within this run.
    """

    def prepare(self) -> None:
        """Do nothing: what a former task still writes was committed before."""

    def begin(self) -> dict[TopicPartition, int]:
        """Begin at the group's positions, read after it is certain that an older task commits no more."""
        self._commit_now({})
        return self._begin_at(self._group_positions())

    def received(self, messages: list[KafkaMessage]) -> list[KafkaMessage]:
        """Commit what was read, and wait for that.

        What was read of a topic that was made anew is left out: it is read again, from the beginning.

        Raises:
            DrainedError: The task must end: it does not get what was read.
            ConnectError: The positions cannot be committed.
        """
        if self._runtime.control.stopping:
            raise DrainedError
        receiver, restarts = self._runtime.receiver, self._restarts
        restarts |= receiver.restarted(wait=True)
        read = {each: offset for each, offset in receiver.positions().items() if each not in restarts}
        with failing(Stage.FLUSH):
            self._commit_now(self._progress.durable(read, read))
        if not restarts:
            return messages
        return [each for each in messages if TopicPartition(each.topic(), each.partition()) not in restarts]

    def seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Read on where the task asks for it, unless it had that already."""
        committed = self._progress.committed
        forward = {each: offset for each, offset in offsets.items() if offset >= committed[each]}
        for each in offsets.keys() - forward.keys():
            _log.warning("%s-%d is not read again from %d: at most once", *each, offsets[each])
        super().seek(forward)

    def _flush_failed(self) -> bool:
        _log.warning("What the task did not write is lost, and not repeated: it is delivered at most once")
        return False

    def _flushed(self, durable: Offsets) -> None:
        """Commit nothing: that was done before."""


class ExactlyOnceSink(SinkDelivery):
    """Begins where the task's data ends, whatever the group says, and goes back to that after a failed flush.

    The positions of the group are used only for partitions of which the task stores nothing. Where each of
    them begins is committed before its first record is put, so that it does not depend on the reset policy
    of the consumer after a crash, and a user who resets offsets is shown, and resets, all of them.
    """

    flushes_after_failure = False  # part of the batch that failed may be in what a flush would store

    def prepare(self) -> None:
        """Start the task only where no newer one exists: its start takes the data from others."""
        self._commit_now({})

    def begin(self) -> dict[TopicPartition, int]:
        """Begin at the task's positions, else at the group's; both are asked after the task's start."""
        known = self._group_positions()
        start = self._begin_at({**known, **self._stored()})
        self._commit_now({each: offset for each, offset in start.items() if known[each] != offset})
        return start

    def received(self, messages: list[KafkaMessage]) -> list[KafkaMessage]:
        """Do nothing: positions are stored with the data."""
        return messages

    def _takes_back(self, *, closing: bool) -> bool:
        if closing:
            self._store({**self._stored(), **self._restarts})
        else:
            self._flush_failed()
        return True

    def _begun_anew(self, start: Offsets) -> None:
        self._store(self._progress.put(self._runtime.receiver.positions(), ()))
        super()._begun_anew(start)

    def _store(self, positions: Offsets) -> None:
        with failing(Stage.FLUSH):
            self._runtime.task.pre_commit(positions)

    def _flush_failed(self) -> bool:
        _log.warning("The task continues from the positions stored with its data")
        self._commit_now({})
        known = {each: offset for each, offset in self._group_positions().items() if offset is not None}
        self.seek({**known, **self._stored()})
        return True

    def _stored(self) -> Offsets:
        partitions = self._runtime.partitions
        stored = self._runtime.task.stored_positions(frozenset(partitions)) or {}
        return {each: offset for each, offset in stored.items() if each in partitions}
