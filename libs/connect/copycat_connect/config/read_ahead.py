"""How far ahead librdkafka's consumers read, wherever records are read in bulk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Settings of librdkafka; no key of Java's consumers says the same. With a full queue the client rests, by
#: default for a second, in which its reader empties the queue and waits: throughput halves, and a mirror
#: moved no more than 130,000 small records a second. The queue is bounded per consumer.
READ_AHEAD: Final[Mapping[str, str]] = {
    "fetch.queue.backoff.ms": "2",
    "queued.min.messages": "100000",
    "queued.max.messages.kbytes": "32768",
}
