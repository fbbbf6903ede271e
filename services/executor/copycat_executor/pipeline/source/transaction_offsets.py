"""Source offsets as records of a transaction, and their copies in the worker's offsets topic."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from copycat_connect.cluster.source_offset_key import source_offset_key

from copycat_executor.pipeline.records.sender import OutgoingRecord
from copycat_executor.pipeline.task.control import Settlement
from copycat_executor.pipeline.task.task_link import TaskLink

_log = logging.getLogger(__name__)

Offsets = Mapping[bytes, bytes | None]


class TransactionOffsets:
    """Where a source task writes its offsets itself.

    What is in a topic of the connector's own is copied into the worker's topic now and then, where it is of
    use when exactly-once delivery or the own topic is given up; a failed copy is no failure (KIP-618).
    """

    def __init__(self, connector: str, topic: str, link: TaskLink, *, copied: bool) -> None:
        """`topic` is where the offsets belong; `copied` when that is not the worker's offsets topic."""
        self._connector = connector
        self._topic = topic
        self._link = link
        self._copied = copied
        self._uncopied: dict[bytes, bytes | None] = {}
        self._under_way: set[int] = set()
        self._sequence = 0

    @property
    def unsettled(self) -> bool:
        """True while copies are on their way."""
        return bool(self._under_way)

    def prepare(self) -> None:
        """Make sure that a topic of the connector's own is there: who reads it creates it."""
        if self._copied:
            self._link.source_offsets([])

    def records(self, offsets: Offsets) -> list[OutgoingRecord]:
        """Return the records that state offsets, by Kafka Connect's keys."""
        return [
            OutgoingRecord(self._topic, offset, source_offset_key(self._connector, partition))
            for partition, offset in offsets.items()
        ]

    def committed(self, offsets: Offsets) -> None:
        """Take note that the transaction with these offsets was committed."""
        if self._copied:
            self._uncopied.update(offsets)

    def copy(self) -> None:
        """Copy what was committed since the last copy."""
        if not self._uncopied:
            return
        copies, self._uncopied = self._uncopied, {}
        self._sequence += 1
        self._under_way.add(self._sequence)
        self._link.acknowledge_source(self._sequence, copies)

    def settle(self, settlement: Settlement) -> None:
        """Take note of the fate of a copy."""
        self._under_way.discard(settlement.sequence)
        if settlement.error:
            _log.warning("Offsets were not copied to the worker's offsets topic: %s", settlement.error)
