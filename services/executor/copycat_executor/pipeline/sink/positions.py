"""How far a sink task got in each of its partitions."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from copycat_connect.cluster import TopicPartition

from copycat_executor.pipeline.records.receiver import KafkaMessage

_log = logging.getLogger(__name__)

Offsets = Mapping[TopicPartition, int]


class SinkPositions:
    """Read, acknowledged and committed positions; a position is the next offset."""

    def __init__(self, start: Offsets) -> None:
        self._base = dict(start)
        self._committed = dict(start)
        self._acknowledged = dict(start)
        self._unsettled: dict[int, dict[TopicPartition, int]] = {}
        self._sequence = 0

    @property
    def unsettled(self) -> bool:
        """True while the fate of an acknowledgement is open."""
        return bool(self._unsettled)

    @property
    def committed(self) -> dict[TopicPartition, int]:
        """Where the task would begin after a crash."""
        return dict(self._committed)

    def put(self, read: Offsets, unput: Sequence[KafkaMessage]) -> dict[TopicPartition, int]:
        """Return what was given to the task: what was read but for the messages it did not take yet."""
        positions = self._base | dict(read)
        for message in reversed(unput):
            positions[TopicPartition(message.topic(), message.partition())] = message.offset()
        return positions

    def rewind(self, offsets: Offsets) -> None:
        """Note that reading continues elsewhere."""
        self._base |= offsets

    def durable(self, answer: Offsets | None, put: Offsets) -> dict[TopicPartition, int]:
        """Choose what to commit of what the task says is durable: never more than it was given."""
        chosen: dict[TopicPartition, int] = {}
        for partition, offset in (answer or {}).items():
            if partition not in put:
                _log.warning("Ignoring the offset of %s, which is not assigned", partition)
            elif offset > put[partition]:
                _log.warning("Ignoring offset %d of %s: it was not delivered yet", offset, partition)
            elif self._acknowledged.get(partition) != offset:
                chosen[partition] = offset
        return chosen

    def acknowledge(self, offsets: Offsets) -> int:
        """Note that offsets are on their way; returns the number of the acknowledgement."""
        self._sequence += 1
        self._unsettled[self._sequence] = dict(offsets)
        self._acknowledged |= offsets
        return self._sequence

    def settle(self, sequence: int, error: str) -> None:
        """Take note of the fate of an acknowledgement; a refused one is tried again."""
        offsets = self._unsettled.pop(sequence, {})
        if error:
            _log.warning("Offsets were not committed and are tried again: %s", error)
            self._acknowledged = dict(self._committed)
        else:
            self._committed |= offsets
