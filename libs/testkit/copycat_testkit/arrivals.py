"""Numbers that were sent in order, as they arrive in a topic or in files: what is missing, what came again.

Sources that count write them, so that a system that fails shows by its records alone what was lost.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

READ_AT_ONCE: Final = 2000
READ_SECONDS: Final = 0.1
END_SECONDS: Final = 10.0
#: Shorter gaps are the resolution of the looks: the reader hands records over ten times a second.
MIN_GAP_SECONDS: Final = 0.2
NEWLINE: Final = b"\n"
#: In the names of what a sink that delivers exactly once keeps beside its file.
BESIDE: Final = ".copycat-"


@dataclass(frozen=True, slots=True)
class Tally:
    """What is wrong with what arrived."""

    lost: int = 0
    """Numbers that never came although a later one did."""
    repeated: int = 0
    """Arrivals of a number that had come before."""

    def since(self, earlier: Tally) -> Tally:
        """Return what has been added; a number that came late after all makes `lost` smaller."""
        return Tally(self.lost - earlier.lost, self.repeated - earlier.repeated)

    def __add__(self, other: Tally) -> Tally:
        """Return both together."""
        return Tally(self.lost + other.lost, self.repeated + other.repeated)


@dataclass(slots=True)
class NumberSequence:
    """The numbers of one partition, from 1 on, as they arrive."""

    highest: int = 0
    """The highest number so far."""
    created_ms: int = 0
    """When the latest record was made that is no repetition, in milliseconds since the epoch."""
    repeated: int = 0
    """Arrivals of a number that had come before."""
    missing: set[int] = field(default_factory=set)
    """Numbers below the highest that have not come."""

    def take(self, number: int, created_ms: int) -> None:
        """Count an arrival."""
        if number > self.highest:
            self.missing.update(range(self.highest + 1, number))
            self.highest, self.created_ms = number, created_ms
        elif number in self.missing:
            self.missing.discard(number)
        else:
            self.repeated += 1

    @property
    def arrived(self) -> int:
        """How many arrivals there were, repetitions included."""
        return self.highest - len(self.missing) + self.repeated

    @property
    def tally(self) -> Tally:
        """What is wrong with them."""
        return Tally(len(self.missing), self.repeated)


class ArrivalReader:
    """Reads in a thread of its own until it is left; a value is a number, and may go on behind a blank."""

    def __init__(self, bootstrap: str, topics: Sequence[str], partitions: int) -> None:
        """Nothing is read yet."""
        self.sequences: Mapping[str, list[NumberSequence]] = {
            topic: [NumberSequence() for _ in range(partitions)] for topic in topics
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

    def tally(self, topic: str) -> Tally:
        """Return what is wrong with a topic's numbers so far."""
        return sum((each.tally for each in self.sequences[topic]), Tally())

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
        return int(self._ends.get_watermark_offsets(partition, timeout=END_SECONDS)[1])

    def _read(self) -> None:
        try:
            self._consumer.assign(self._all)
            while not self._done.is_set():
                for message in self._consumer.consume(READ_AT_ONCE, READ_SECONDS):
                    self._take(message)
        except (KafkaException, RuntimeError, ValueError) as error:
            self._failure = error

    def _take(self, message: Message) -> None:
        error, place = message.error(), (message.topic() or "", message.partition() or 0)
        if error is None:
            self.records += 1
            number = (message.value() or b"").partition(b" ")[0]
            self.sequences[place[0]][place[1]].take(int(number), message.timestamp()[1])
        elif error.name() == "_PARTITION_EOF":
            self._read_to[place] = message.offset() or 0
        elif error.fatal():
            raise KafkaException(error)  # all else is the broker being away

    def _check(self) -> None:
        if self._failure is not None:
            raise RuntimeError(f"the reader ended: {self._failure}") from self._failure

    def __enter__(self) -> ArrivalReader:
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


class FolderLines:
    """Reads on in every file of a folder, whole lines only: one that is torn has no end."""

    def __init__(self, folder: Path, partitions: int) -> None:
        """Nothing is read yet."""
        self.sequences = [NumberSequence() for _ in range(partitions)]
        """What was written, by partition."""
        self._folder = folder
        self._read_to: dict[Path, int] = {}

    def read_on(self) -> None:
        """Read what was written since."""
        for path in self._folder.iterdir():
            if BESIDE in path.name:
                continue
            with path.open("rb") as file:
                file.seek(self._read_to.get(path, 0))
                text = file.read()
            whole = text[: text.rfind(NEWLINE) + 1]
            self._read_to[path] = self._read_to.get(path, 0) + len(whole)
            for line in whole.splitlines():
                partition, number, *_ = line.split()
                self.sequences[int(partition)].take(int(number), created_ms=0)


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which nothing came; moments are those of `time.monotonic`."""

    began: float
    ended: float

    @property
    def seconds(self) -> float:
        """How long it was."""
        return self.ended - self.began


@dataclass(slots=True)
class Pulse:
    """When records of one partition arrived, and when none did.

    Repetitions count too: a task that goes on from its last commit works, though its records came before.
    """

    last: float = field(default_factory=time.monotonic)
    """When a record arrived last."""
    _arrived: int = 0
    _gaps: list[Gap] = field(default_factory=list)

    def look(self, arrived: int, now: float) -> None:
        """Note how many records have arrived."""
        if arrived <= self._arrived:
            return
        if now - self.last >= MIN_GAP_SECONDS:
            self._gaps.append(Gap(self.last, now))
        self._arrived, self.last = arrived, now

    def gaps_since(self, moment: float, now: float) -> list[Gap]:
        """Return the gaps that ended after a moment, and the one that lasts; shortened to begin there."""
        gaps = [*self._gaps, Gap(self.last, now)]
        return [Gap(max(gap.began, moment), gap.ended) for gap in gaps if gap.ended > moment]


def move(pulses: Iterable[Pulse], since: float, within: float) -> bool:
    """Tell whether every partition has moved on since a moment, and in the last `within` seconds."""
    newest = time.monotonic() - within
    return all(pulse.last > max(since, newest) for pulse in pulses)


def longest_gap(pulses: Iterable[Pulse], since: float) -> float:
    """Return the longest time in seconds, since a moment, without a record of some partition."""
    now = time.monotonic()
    return max(gap.seconds for pulse in pulses for gap in pulse.gaps_since(since, now))


def pauses(pulses: Iterable[Pulse], since: float, shortest: float) -> list[Gap]:
    """Return the gaps of any partition that lasted at least so long; moments are seconds from `since`."""
    now = time.monotonic()
    gaps = (gap for pulse in pulses for gap in pulse.gaps_since(since, now))
    return [Gap(gap.began - since, gap.ended - since) for gap in gaps if gap.seconds >= shortest]
