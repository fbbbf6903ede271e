"""Delivery at least once: the task flushes, then what it says is durable is acknowledged (I1)."""

from __future__ import annotations

import logging

from copycat_connect.cluster import TopicPartition

from copycat_executor.pipeline.sink.delivery import SinkDelivery

_log = logging.getLogger(__name__)


class AtLeastOnce(SinkDelivery):
    """Begins at the group's positions, and goes back to them after a flush that failed."""

    def prepare(self) -> None:
        """Do nothing: what a former task still writes is a repeat."""

    def begin(self) -> dict[TopicPartition, int]:
        """Begin at the positions that came with the order."""
        return self._begin_at(self._parts.partitions)

    def received(self) -> None:
        """Do nothing: positions follow the data."""

    def _flush_failed(self) -> bool:
        _log.warning("The task continues from the last committed offsets")
        self.seek(self._positions.committed)
        return True
