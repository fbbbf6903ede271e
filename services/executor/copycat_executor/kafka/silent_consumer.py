"""Notice a consumer that reads nothing any more although there is something to read, and make another.

librdkafka forgets all brokers when one answers that it knows of no live broker, as a lone broker does for a
moment after its start. It then should begin again with `bootstrap.servers`; but that is lost at times, and
always with `metadata.recovery.strategy=none`, and it never connects again and reports nothing (librdkafka's
issue 5301). So a consumer that returned nothing for a while is compared with what the brokers say.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from confluent_kafka import Consumer, KafkaException
from confluent_kafka import TopicPartition as ClientPartition

_log = logging.getLogger(__name__)

#: Between two checks of a silent consumer, each one small question to one broker.
CHECK_INTERVAL_SECONDS: Final = 10.0
#: A consumer may look stuck this long, besides the longest wait of its fetches: longer than a healthy
#: client needs to connect again, shorter than people wait before they look for the fault themselves.
STUCK_AFTER_SECONDS: Final = 15.0
#: For the broker's answer to a check. The thread of the task waits for it, but there was nothing to read.
_ANSWER_TIMEOUT_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at one partition of a silent consumer saw."""

    end: int
    """Where the partition ends by the brokers' answer."""
    fetched_end: int
    """Where it ended by the last answer to a fetch; negative before the first."""

    @property
    def doubt(self) -> str | None:
        """What speaks against the consumer.

        Positions say nothing here: markers of transactions and compacted records lie between the last
        record and the end. But each answer to a fetch, even an empty one, says where the partition ends.
        """
        if self.end > self.fetched_end:
            known = (
                f"the last fetch knew of {self.fetched_end}"
                if self.fetched_end >= 0
                else "no fetch was answered"
            )
            return f"it ends at {self.end}, but {known}"
        return None


class Doubts:
    """Decides from looks whether a silent consumer is to be replaced."""

    def __init__(self, patience: float) -> None:
        """`patience` is how many seconds all looks must speak against the consumer."""
        self._patience = patience
        self._since: float | None = None

    def __bool__(self) -> bool:
        return self._since is not None

    def clear(self) -> None:
        """Forget former looks: the consumer returned records, or the brokers are away for everyone."""
        self._since = None

    def weigh(self, look: Look, now: float) -> str | None:
        """Return why the consumer is to be replaced, if it is; `now` is in seconds."""
        doubt = look.doubt
        if doubt is None:
            self._since = None
        elif self._since is None:
            self._since = now
        elif now - self._since >= self._patience:
            return doubt
        return None


class SilenceWatch:
    """Looks at a consumer now and then while it returns nothing; costs nothing while records come."""

    def __init__(self, connect: Callable[[], Consumer], fetch_wait_ms: float) -> None:
        """`connect` makes another consumer; `fetch_wait_ms` is how long a fetch may wait for records."""
        self._connect = connect
        self._doubts = Doubts(STUCK_AFTER_SECONDS + fetch_wait_ms / 1000)
        #: Asks in the stead of a client that gets no answer.
        self._probe: Consumer | None = None
        self._next: float | None = None
        self._turn = 0

    def records_came(self) -> None:
        """Note that records came: the consumer is not stuck."""
        if self._next is not None:
            self._next = None
            self._doubts.clear()
            self.close()

    def close(self) -> None:
        """Let go of the connections, but for those of consumers that were returned."""
        probe, self._probe = self._probe, None
        if probe is not None:
            probe.close()

    def successor(
        self, consumer: Consumer, reading: Callable[[], Sequence[ClientPartition]]
    ) -> Consumer | None:
        """Return another consumer, connected but not assigned, when this one is stuck.

        Call it whenever nothing came; `reading` returns the assigned partitions that are not paused.
        """
        now = time.monotonic()
        if self._next is None:
            self._next = now + CHECK_INTERVAL_SECONDS
        if now < self._next:
            return None
        partitions = reading()
        if not partitions:
            self.records_came()
            return None
        if not self._doubts:
            self._turn += 1
        partition = partitions[self._turn % len(partitions)]
        another = self._examine(consumer, partition)
        self._next = time.monotonic() + CHECK_INTERVAL_SECONDS
        if another is not None:
            self.records_came()
        return another

    def _examine(self, consumer: Consumer, partition: ClientPartition) -> Consumer | None:
        end = self._end(consumer, partition)
        if end is None:  # the brokers are away for everyone
            self._doubts.clear()
            return None
        _, fetched_end = consumer.get_watermark_offsets(partition, cached=True)
        reason = self._doubts.weigh(Look(end, int(fetched_end)), time.monotonic())
        if reason is None:
            return None
        _log.warning(
            "The Kafka consumer reads nothing any more and is replaced: looking at %s-%d, %s. "
            "Nothing is lost: the next one goes on at the same positions",
            partition.topic,
            partition.partition,
            reason,
        )
        probe, self._probe = self._probe, None
        return probe or self._connect()

    def _end(self, consumer: Consumer, partition: ClientPartition) -> int | None:
        end = _ask_end(consumer, partition)
        if end is not None:
            self.close()
            return end
        # A fetch that waits long for records holds up answers on its connection; so this is no proof.
        self._probe = self._probe or self._connect()
        end = _ask_end(self._probe, partition)
        if end is None:
            self.close()  # it may lose the brokers for good as well
        return end


def _ask_end(consumer: Consumer, partition: ClientPartition) -> int | None:
    try:
        answer = consumer.get_watermark_offsets(partition, timeout=_ANSWER_TIMEOUT_SECONDS)
    except KafkaException:
        return None
    return None if answer is None else int(answer[1])
