"""Sink records that remember the message they were."""

from __future__ import annotations

from copycat_connect.data.records import SinkRecord

from copycat_executor.pipeline.receiver import KafkaMessage


class TracedRecord(SinkRecord):
    """A sink record with its message, which survives transformations; made when failures are reported."""

    __slots__ = ("message",)

    message: KafkaMessage

    @classmethod
    def _attributes(cls) -> tuple[str, ...]:
        return (*super()._attributes(), "message")
