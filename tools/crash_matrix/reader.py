"""A read_committed consumer that counts every record of some topics, all the time."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from types import TracebackType

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from tools.crash_matrix import counts

BATCH = 2000
WAIT_SECONDS = 0.1
ASK_SECONDS = 10.0


class Reader:
    """Reads in a thread of its own until it is left."""

    def __init__(self, bootstrap: str, topics: Sequence[str], partitions: int) -> None:
        """Nothing is read yet."""
        self.sequences: Mapping[str, list[counts.Sequence]] = {
            topic: [counts.Sequence() for _ in range(partitions)] for topic in topics
        }
        """What arrived, by topic and partition."""
        self.records = 0
        """How many records were read."""
        shared = {
            "bootstrap.servers": bootstrap,
            "group.id": "crash-matrix-reader",
            "enable.auto.commit": False,
            "reconnect.backoff.max.ms": 500,
            "log_level": 2,
        }
        self._consumer = Consumer(
            {
                **shared,
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
                "fetch.queue.backoff.ms": 2,
                "fetch.wait.max.ms": 50,
            }
        )
        # Asked with read_committed, a topic would seem to end where an open transaction begins.
        self._ends = Consumer({**shared, "isolation.level": "read_uncommitted"})
        self._all = [TopicPartition(topic, each, 0) for topic in topics for each in range(partitions)]
        self._read_to: dict[tuple[str, int], int] = {}
        self._done = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._read, name="reader")

    def tally(self, topic: str) -> counts.Tally:
        """Return what is wrong with a topic's numbers so far."""
        return sum((each.tally for each in self.sequences[topic]), counts.Tally())

    def flows_since(self, topic: str, moment: float) -> bool:
        """Tell whether every partition has a new number that was written after a moment (`time.time()`).

        Raises:
            RuntimeError: Nothing can be read any more.
        """
        self._check()
        return all(each.created_ms > moment * 1000 for each in self.sequences[topic])

    def at_end(self) -> bool:
        """Tell whether every record that is there now has been read, or belongs to an aborted transaction.

        A transaction that nobody ended hides its records and all behind them: then this is false.

        Raises:
            RuntimeError: Nothing can be read any more.
        """
        self._check()
        return all(
            self._read_to.get((each.topic, each.partition), 0) >= self._end(each) for each in self._all
        )

    def _end(self, partition: TopicPartition) -> int:
        return int(self._ends.get_watermark_offsets(partition, timeout=ASK_SECONDS)[1])

    def _read(self) -> None:
        try:
            self._consumer.assign(self._all)
            while not self._done.is_set():
                for message in self._consumer.consume(BATCH, WAIT_SECONDS):
                    self._take(message)
        except (KafkaException, RuntimeError, ValueError) as error:
            self._failure = error

    def _take(self, message: Message) -> None:
        error, place = message.error(), (message.topic() or "", message.partition() or 0)
        if error is None:
            self.records += 1
            self.sequences[place[0]][place[1]].take(int(message.value() or b""), message.timestamp()[1])
        elif error.name() == "_PARTITION_EOF":
            self._read_to[place] = message.offset() or 0
        elif error.fatal():
            raise KafkaException(error)  # all else is the broker being away

    def _check(self) -> None:
        if self._failure is not None:
            message = f"the reader ended: {self._failure}"
            raise RuntimeError(message) from self._failure

    def __enter__(self) -> Reader:
        """Begin to read; the topics must be there."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Read no more."""
        self._done.set()
        self._thread.join()
        self._consumer.close()
        self._ends.close()
