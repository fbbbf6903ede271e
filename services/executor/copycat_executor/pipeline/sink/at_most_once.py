"""Delivery at most once: positions are committed before what was read is converted and put (KIP-26)."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from copycat_connect.cluster import TopicPartition

from copycat_executor.pipeline.sink.delivery import SinkDelivery
from copycat_executor.pipeline.sink.positions import Offsets
from copycat_executor.pipeline.task.stages import DrainedError, Stage, failing

_log = logging.getLogger(__name__)


class AtMostOnce(SinkDelivery):
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

    def received(self) -> None:
        """Commit what was read, and wait for that.

        Raises:
            DrainedError: The task must end: it does not get what was read.
            ConnectError: The positions cannot be committed.
        """
        if self._parts.control.stopping:
            raise DrainedError
        read = self._parts.receiver.positions()
        with failing(Stage.FLUSH):
            self._commit_now(self._positions.durable(read, read))

    def seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Read on where the task asks for it, unless it had that already."""
        committed = self._positions.committed
        forward = {each: offset for each, offset in offsets.items() if offset >= committed[each]}
        for each in offsets.keys() - forward.keys():
            _log.warning("%s-%d is not read again from %d: at most once", *each, offsets[each])
        super().seek(forward)

    def _flush_failed(self) -> bool:
        _log.warning("What the task did not write is lost, and not repeated: it is delivered at most once")
        return False

    def _flushed(self, durable: Offsets) -> None:
        """Commit nothing: that was done before."""
