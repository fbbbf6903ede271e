"""Exactly-once delivery: the task stores positions with its data, and reading begins at these."""

from __future__ import annotations

import logging

from copycat_connect.cluster import TopicPartition

from copycat_executor.pipeline.sink.delivery import SinkDelivery
from copycat_executor.pipeline.sink.positions import Offsets

_log = logging.getLogger(__name__)


class ExactlyOnce(SinkDelivery):
    """Begins where the task's data ends, whatever the group says, and goes back to that after a failed flush.

    What the group has then is for show, but for partitions of which the task stores nothing. Where each of
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

    def received(self) -> None:
        """Do nothing: positions are stored with the data."""

    def _flush_failed(self) -> bool:
        _log.warning("The task continues from the positions stored with its data")
        self._commit_now({})
        known = {each: offset for each, offset in self._group_positions().items() if offset is not None}
        self.seek({**known, **self._stored()})
        return True

    def _stored(self) -> Offsets:
        partitions = self._parts.partitions
        stored = self._parts.task.stored_positions(frozenset(partitions)) or {}
        return {each: offset for each, offset in stored.items() if each in partitions}
