"""What a sink task runs with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from copycat_connect.cluster import TopicPartition
from copycat_connect.plugin.tasks import SinkTask
from copycat_telemetry.record_spans import RecordSpans

from copycat_executor.pipeline.records.dead_letter import DeadLetterQueue
from copycat_executor.pipeline.records.origins import Counted, origins_of
from copycat_executor.pipeline.records.receiver import KafkaMessage, RecordReceiver
from copycat_executor.pipeline.sink.decode import Decoder
from copycat_executor.pipeline.sink.errant_records import ErrantRecords
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.task_link import TaskLink
from copycat_executor.pipeline.task.timing import Timing
from copycat_executor.pipeline.task.topic_ledger import TopicLedger


@dataclass(frozen=True, slots=True)
class SinkRuntime:
    """Everything around one sink task; one thread uses it."""

    task: SinkTask
    """The task, not yet started."""
    config: Mapping[str, str]
    """Its configuration, placeholders resolved."""
    partitions: Mapping[TopicPartition, int | None]
    """What it reads, with the committed positions."""
    group_id: str
    """The consumer group that holds its positions."""
    receiver: RecordReceiver
    """Reads from Kafka."""
    decoder: Decoder
    """Makes batches of records out of Kafka's messages."""
    measures: Measures
    """What is measured of it, on its way to Connect's task metrics."""
    topics: TopicLedger
    """The topics it met, for topic creation and for the active topics (KIP-158, KIP-558)."""
    calls: CallLog
    """Which of its calls is under way, for the progress watch."""
    link: TaskLink
    """Where it reports to."""
    control: TaskControl
    """Requests to stop and pause, and the answers to its acknowledgements."""
    timing: Timing
    """How often it commits, and how long that may take."""
    clock: Callable[[], float]
    """Seconds that never run backwards."""
    collect_garbage: Callable[[], None]
    """Called after commits, where a pause does no harm."""
    max_records: int
    """The most records of one batch."""
    transactional_id: str | None = None
    """Its transactional id, if it delivers exactly once."""
    dead_letters: DeadLetterQueue | None = None
    """Takes records that failed to convert or transform; None where none is configured."""
    traces: SinkTraces | None = None
    """Follows the records that belong to a trace; None where they are not followed."""
    errant: ErrantRecords | None = None
    """Takes records the task cannot write."""
    closers: Sequence[Callable[[], None]] = ()
    """What to close at the end, after the task's `stop`."""


class SinkTraces:
    """Follows records with spans, from the read of a batch to the end of the `put` that took it."""

    def __init__(self, spans: RecordSpans, now: Callable[[], int]) -> None:
        """`now` is the time of day, nanoseconds since the epoch."""
        self._spans = spans
        self._now = now
        self._began = 0
        self._origins = Counted()

    def read(self, messages: Sequence[KafkaMessage]) -> None:
        """Note what was read just now."""
        self._began, self._origins = self._now(), origins_of(messages)

    def put(self, error: BaseException | None = None) -> None:
        """Note that what was read was put, or has failed the task."""
        if self._origins:
            self._spans.note(self._origins, self._began, error)
            self._origins = Counted()


@contextmanager
def failing_traces(traces: SinkTraces | None) -> Iterator[None]:
    """Note an error of the block in the traces of what was read, where these are followed."""
    try:
        yield
    except BaseException as error:
        if traces is not None:
            traces.put(error)
        raise
