"""Which traces the records of a batch belong to, by a header of theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from copycat_telemetry.tracing import TRACEPARENT

from copycat_executor.pipeline.records.receiver import KafkaMessage
from copycat_executor.pipeline.records.sender import KafkaHeaders

#: A longer header is not one of W3C's trace context.
_MAX_BYTES: Final = 64

#: Records by their `traceparent` and topic.
Counted = Counter[tuple[bytes, str]]


def origin(headers: KafkaHeaders) -> bytes | None:
    """Return the `traceparent` of a record, the last of its headers of that name; None when it has none."""
    found = None
    for name, value in headers:
        if name == TRACEPARENT and isinstance(value, bytes) and len(value) <= _MAX_BYTES:
            found = value
    return found


def origins_of(messages: Sequence[KafkaMessage]) -> Counted:
    """Count the messages that belong to a trace."""
    counted: Counted = Counter()
    for message in messages:
        headers = message.headers()
        if headers and (parent := origin(headers)) is not None:
            counted[parent, message.topic()] += 1
    return counted
