"""What brokers answer while they do not agree yet on who leads a partition, or have just learnt of it."""

from __future__ import annotations

from typing import Final

#: Error codes of Kafka's protocol, in its names: LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER,
#: FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, OFFSET_NOT_AVAILABLE. They pass by themselves, though librdkafka
#: does not call them retriable.
LEADER_ERRORS: Final = frozenset({5, 6, 74, 75, 78})
