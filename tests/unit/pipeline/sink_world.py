"""A recording sink task with everything around it."""

from collections.abc import Callable, Collection, Mapping

from copycat_connect.cluster import TopicPartition
from copycat_connect.data import SinkBatch
from copycat_connect.plugin import SinkTask
from copycat_executor.pipeline.records.chain import Chain
from copycat_executor.pipeline.records.tolerate import ErrorPolicy
from copycat_executor.pipeline.sink.decode import Decoder
from copycat_executor.pipeline.sink.errant_records import ErrantRecords
from copycat_executor.pipeline.sink.sink_delivery import SinkDelivery
from copycat_executor.pipeline.sink.sink_guarantees import AtLeastOnceSink
from copycat_executor.pipeline.sink.sink_loop import SinkLoop
from copycat_executor.pipeline.sink.sink_runtime import SinkRuntime
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.task_frame import TaskFrame
from copycat_executor.pipeline.task.timing import Timing
from copycat_executor.pipeline.task.topic_ledger import TopicLedger

from tests.unit.pipeline.fakes import (
    Clock,
    ClockedControl,
    FakeLink,
    FakeMessage,
    FakeReceiver,
    text_converters,
    tolerance,
)

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


class RecordingTask(SinkTask):
    """Remembers what it was given."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.values: list[object] = []
        self.fails: dict[str, list[BaseException]] = {}
        self.answer: Callable[[Mapping[TopicPartition, int]], Mapping[TopicPartition, int]] = dict
        self.on_put: Callable[[], None] = lambda: None
        self.stored: dict[TopicPartition, int] | None = None

    def start(self, config: Mapping[str, str]) -> None:
        self._called("start")

    def stored_positions(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int] | None:
        self._called("stored_positions")
        return self.stored

    def open(self, partitions: Collection[TopicPartition]) -> None:
        self._called("open")

    def put(self, records: SinkBatch) -> None:
        self._called("put" if records else "put nothing")
        self.values += records.values
        self.on_put()

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        self._called("pre_commit")
        return self.answer(offsets)

    def close(self, partitions: Collection[TopicPartition]) -> None:
        self._called("close")

    def made_anew(self, partitions: Collection[TopicPartition]) -> None:
        self._called("made_anew")

    def stop(self) -> None:
        self._called("stop")

    def _called(self, what: str) -> None:
        self.calls.append(what)
        if self.fails.get(what):
            raise self.fails[what].pop(0)


class World:
    """A sink task with everything around it; it is stopped when all is read, unless a test says no."""

    def __init__(self, *messages: FakeMessage, paused: bool = False) -> None:
        self.clock = Clock()
        self.control = ClockedControl(self.clock, paused=paused)
        self.link = FakeLink(self.control)
        self.receiver = FakeReceiver(messages, self.clock)
        self.receiver.on_empty = self.control.stop
        self.task = RecordingTask()
        self.policy = ErrorPolicy()
        self.partitions: dict[TopicPartition, int | None] = {A: None}
        self.delivery: type[SinkDelivery] = AtLeastOnceSink
        self.errant: ErrantRecords | None = None

    def run(self, most: int = 100) -> None:
        self.calls = CallLog(self.clock)
        measures = Measures(self.clock)
        handler = tolerance(self.policy, clock=self.clock, measures=measures)
        topics = TopicLedger()
        decoder = Decoder(text_converters(), Chain((), handler), handler, topics)
        runtime = SinkRuntime(
            task=self.task,
            config={"file": "x"},
            partitions=self.partitions,
            group_id="connect-x",
            receiver=self.receiver,
            decoder=decoder,
            measures=measures,
            topics=topics,
            calls=self.calls,
            link=self.link,
            control=self.control,
            timing=Timing(5.0, 2.0),
            clock=self.clock,
            collect_garbage=lambda: None,
            max_records=most,
            closers=(self.receiver.close,),
            errant=self.errant,
        )
        loop, last_commit = SinkLoop(runtime, self.delivery(runtime)), runtime.timing.last_commit
        TaskFrame(loop, self.control, self.link, last_commit, clock=self.clock, tidy=lambda: None).run()

    def until(self, seconds: float) -> None:
        """Let the task run until that much time passed."""
        end = self.clock.now + seconds

        def check() -> None:
            if self.clock.now >= end:
                self.control.stop()

        self.receiver.on_empty = check
        self.control.on_wait = check
