"""A scripted source task under exactly-once and at-most-once delivery."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from copycat_executor.pipeline.records.sender import Done, OutgoingRecord
from copycat_executor.pipeline.source.at_most_once import AtMostOnce
from copycat_executor.pipeline.source.exactly_once import ExactlyOnce
from copycat_executor.pipeline.source.source_offsets import ExpectedOffsets, SourceCommits, SourceProgress
from copycat_executor.pipeline.source.source_runtime import SourceDelivery, SourceRuntime
from copycat_executor.pipeline.source.transactions import Boundary, TransactionOffsets

from tests.unit.pipeline.fakes import FakeSender
from tests.unit.pipeline.source_world import Polled, World

OFFSETS_TOPIC = "offsets"


class FakeTransactionalSender(FakeSender):
    """Keeps each transaction: the values of its records, and the offsets that were committed with them."""

    def __init__(self, events: list[str]) -> None:
        super().__init__(events)
        self.events = events
        self.began = False
        self.transactions: list[tuple[list[bytes | None], list[bytes | None]]] = []
        self.aborted: list[list[bytes | None]] = []
        self.failure: Exception | None = None

    @property
    def open(self) -> bool:
        return self.began

    def prepare(self) -> None:
        self.events.append("prepared")

    def send_values(
        self, topic: str, values: Sequence[bytes | None], keys: Sequence[bytes | None] | None
    ) -> None:
        self.began = True
        super().send_values(topic, values, keys)

    def send(self, record: OutgoingRecord, done: Done | None = None) -> None:
        self.began = True
        super().send(record, done)

    def commit(self, offsets: Sequence[OutgoingRecord]) -> None:
        if self.failure is not None:
            raise self.failure
        assert all(each.topic == OFFSETS_TOPIC for each in offsets)
        self.transactions.append((self._take(), [each.value for each in offsets]))

    def abort(self) -> None:
        if self.began:
            self.aborted.append(self._take())

    def _take(self) -> list[bytes | None]:
        taken, self.began = self.values, False
        self.records.clear()
        return taken


class TransactionalWorld(World):
    """A task that delivers exactly once."""

    def __init__(
        self, *script: Callable[[], Polled] | Polled, boundary: Boundary, paused: bool = False
    ) -> None:
        super().__init__(*script, paused=paused)
        self.boundary = boundary
        self.copied = False
        self.transactional = FakeTransactionalSender(self.link.events)
        self.sender = self.transactional

    def delivery(self, runtime: SourceRuntime) -> SourceDelivery:
        offsets = TransactionOffsets("c", OFFSETS_TOPIC, self.link, copied=self.copied)
        return ExactlyOnce(runtime, self.transactional, offsets, self.boundary)

    @property
    def transactions(self) -> list[tuple[list[bytes | None], list[bytes | None]]]:
        return self.transactional.transactions


class AtMostOnceWorld(World):
    """A task that delivers at most once."""

    def commits(self, progress: SourceProgress) -> SourceCommits:
        del progress  # what was sent; here the offsets come first
        return SourceCommits(SourceProgress(), self.link, ExpectedOffsets())

    def delivery(self, runtime: SourceRuntime) -> SourceDelivery:
        return AtMostOnce(runtime)
