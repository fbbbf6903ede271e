"""Sink records that remember the message they were."""

from __future__ import annotations

from typing import cast

from copycat_connect.data.records import SinkRecord

from copycat_executor.pipeline.records.receiver import KafkaMessage


class TracedRecord(SinkRecord):
    """A sink record with its message, which survives transformations; made when failures are reported."""

    __slots__ = ("message",)

    message: KafkaMessage

    def _copy(self) -> TracedRecord:
        copy = TracedRecord(
            self.topic,
            cast("int", self.kafka_partition),
            self.offset,
            self.key,
            self.value,
            self.key_schema,
            self.value_schema,
            self.timestamp,
            self.timestamp_type,
            tuple(self._headers) if self.has_headers else (),
        )
        copy.original_topic = self.original_topic
        copy.original_partition = self.original_partition
        copy.original_offset = self.original_offset
        copy.message = self.message
        return copy
