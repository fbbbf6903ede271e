"""A scripted source task with everything around it, under each guarantee of delivery."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from copycat_connect.data import STRING_SCHEMA, SourceBatch, SourceRecord
from copycat_connect.plugin import SourceTask
from copycat_executor.pipeline.records.chain import Chain
from copycat_executor.pipeline.records.sender import Done, OutgoingRecord
from copycat_executor.pipeline.records.tolerate import ErrorPolicy
from copycat_executor.pipeline.source.at_least_once import AtLeastOnce
from copycat_executor.pipeline.source.at_most_once import AtMostOnce
from copycat_executor.pipeline.source.exactly_once import ExactlyOnce
from copycat_executor.pipeline.source.sent_records import CommitRecord, SendFailures, WrittenRecords
from copycat_executor.pipeline.source.source_loop import SourceLoop
from copycat_executor.pipeline.source.source_offsets import ExpectedOffsets, SourceCommits, SourceProgress
from copycat_executor.pipeline.source.source_runtime import SourceDelivery, SourceRuntime
from copycat_executor.pipeline.source.transactions import Boundary, TransactionOffsets
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.task_frame import TaskFrame
from copycat_executor.pipeline.task.timing import Timing
from copycat_executor.pipeline.task.topic_ledger import TopicLedger

from tests.unit.pipeline.fakes import (
    Clock,
    ClockedControl,
    FakeLink,
    FakeSender,
    source_path,
    tolerance,
)

Polled = SourceBatch | Sequence[SourceRecord] | None
Script = Sequence[Callable[[], Polled] | Polled]


class ScriptedTask(SourceTask):
    """Answers polls out of a script; when it is at its end, the task is stopped."""

    def __init__(self, script: Script, control: ClockedControl) -> None:
        self.script = list(script)
        self.control = control
        self.calls: list[str] = []
        self.fails: dict[str, Exception] = {}

    def start(self, config: Mapping[str, str]) -> None:
        self._called("start")

    def poll(self) -> Polled:
        self._called("poll")
        if not self.script:
            self.control.stop()
            return None
        step = self.script.pop(0)
        return step() if callable(step) else step

    def commit(self) -> None:
        self._called("commit")

    def stop(self) -> None:
        self._called("stop")

    def _called(self, what: str) -> None:
        self.calls.append(what)
        if what in self.fails:
            raise self.fails[what]


class World:
    """A task with everything around it."""

    def __init__(self, *script: Callable[[], Polled] | Polled, paused: bool = False) -> None:
        self.clock = Clock()
        self.control = ClockedControl(self.clock, paused=paused)
        self.link = FakeLink(self.control)
        self.sender = FakeSender(self.link.events)
        self.task = ScriptedTask(script, self.control)
        self.policy = ErrorPolicy()
        self.timing = Timing(5.0, 2.0)
        self.commit_record: CommitRecord | None = None
        self.tidied = 0

    def run(self) -> None:
        self.calls = CallLog(self.clock)
        measures = Measures(self.clock)
        handler = tolerance(self.policy, clock=self.clock, measures=measures)
        progress = SourceProgress()
        topics, written = TopicLedger(), WrittenRecords(self.commit_record)
        self.failures = SendFailures(handler)
        runtime = SourceRuntime(
            task=self.task,
            config={"file": "x"},
            path=source_path(Chain((), handler), self.sender, progress, topics, handler, written),
            sender=self.sender,
            written=written,
            failures=self.failures,
            measures=measures,
            commits=self.commits(progress),
            topics=topics,
            calls=self.calls,
            link=self.link,
            control=self.control,
            timing=self.timing,
            clock=self.clock,
            collect_garbage=self._tidy,
            closers=(self.sender.close,),
        )
        loop = SourceLoop(runtime, self.delivery(runtime))
        TaskFrame(
            loop, self.control, self.link, self.timing.last_commit, clock=self.clock, tidy=self._tidy
        ).run()

    def commits(self, progress: SourceProgress) -> SourceCommits:
        return SourceCommits(progress, self.link)

    def delivery(self, runtime: SourceRuntime) -> SourceDelivery:
        return AtLeastOnce(runtime)

    def _tidy(self) -> None:
        self.tidied += 1

    def later(self, seconds: float) -> Callable[[], Polled]:
        def passes() -> None:
            self.clock.now += seconds

        return passes


def lines(position: int, *values: str) -> SourceBatch:
    return SourceBatch(
        "t",
        list(values),
        value_schema=STRING_SCHEMA,
        source_partition={"f": "x"},
        source_offset={"p": position},
    )


def offset(position: int) -> dict[bytes, bytes | None]:
    return {b'{"f":"x"}': f'{{"p":{position}}}'.encode()}


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
