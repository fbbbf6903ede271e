"""Connectors whose records Spark moves: what their tasks do in the driver, and what in Spark's partitions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from copycat_connect.cluster import TopicPartition
from copycat_connect.data.batches import SinkBatch, SourceBatch
from copycat_connect.data.records import SourceRecord
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition
from copycat_connect.plugin.row_query import RowQuery
from copycat_connect.plugin.tasks import SinkTask, SourceTask


@dataclass(frozen=True, slots=True)
class SparkUnit:
    """What Spark reads as a whole, e.g. a file: one source partition of the connector."""

    partition: SourcePartition
    """Its source partition; what is committed for it is its offset."""
    name: str
    """What users call it, for errors."""
    content: Any
    """What the task needs to know to read it; travels to other processes (pickle)."""
    size: int | None = None
    """Its bytes, where one partition may read it with others that are small; None where it may not."""
    is_whole: bool = False
    """True for a unit that is committed in one transaction, however long that takes."""
    is_mark: bool = False
    """True for a unit without rows, whose offset says that all units planned before it are committed. It
    waits for them, and what is planned behind it waits for it; no frame is made of it."""


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """A batch of a query with state: the content of the units that are committed with it.

    `batches` gets the rows that one part of the state gives, `end_of` the query as a whole, too.
    """

    epoch: str
    """Which state: each has a name of its own."""
    number: int
    """From 0 on; -1 before the first."""
    positions: Mapping[str, int] | None = None
    """Where each partition of the topics (`TOPIC-PARTITION`) goes on behind it; of a part None."""

    def offset(self) -> dict[str, Any]:
        """Return the source offset that says that it is done."""
        return {EPOCH: self.epoch, BATCH: self.number, **(self.positions or {})}

    def is_done(self, offset: SourceOffset | None) -> bool:
        """Return whether an offset says so."""
        return offset is not None and offset.get(EPOCH) == self.epoch and offset[BATCH] >= self.number


EPOCH: Final = "epoch"
BATCH: Final = "batch"
SLOT: Final = "slot"
"""In a source partition: the part of the state."""


@dataclass(frozen=True, slots=True)
class SparkStream:
    """A query with state, which Spark runs batch by batch (Structured Streaming)."""

    name: str
    """Of its source partition: {query: name}, for a part of the state {query: name, slot: number}."""
    topics: Sequence[str]
    """What it reads."""
    state_url: str
    """The folder below which states are kept."""
    slots: int
    """Into how many parts a state is divided."""
    mode: str
    """Spark's output mode: append or update."""
    interval_seconds: float
    """Between the beginnings of two batches."""
    sql: str
    """The query."""
    tables: Callable[[Any, Mapping[TopicPartition, int]], None]
    """Makes the views that the query reads, given the SparkSession and where a new state begins."""
    rows: Callable[[Any], Any]
    """Returns the DataFrame of a batch with the columns that `batches` wants."""
    renew: Callable[[Any], bool] | None = None
    """Reads anew what `tables` makes views of besides topics, given the SparkSession; returns whether it has
    changed, so that the query has to begin again. Raises RetriableError while that cannot be read."""
    renew_seconds: float = 0.0
    """After how long it is called again."""

    @property
    def partition(self) -> dict[str, Any]:
        """The source partition of the query as a whole."""
        return {QUERY: self.name}


QUERY: Final = "query"


class SparkSourceTask(SourceTask):
    """The one task of a source on Spark (`PluginSpec.on_spark`); `tasks.max` units are read at once.

    It runs in a process that has a Spark session of its own, and says there what is to be read: `start`, then
    `plan` again and again, and for a unit, or some small ones, `frame`, which several threads may call at
    once. The engine has Spark read that in one partition. There another instance of this class makes records
    of the rows: `open`, then `batches`. They go through the connector's transformations and converters in
    that partition, and are committed with the offsets of the units.

    Reading a unit again has to give the same rows in the same order: a unit goes on at its offset.
    """

    query: RowQuery | None = None
    """What `open` wants to be made of the rows. They then have the columns of its `sql`, the place of the row
    (`PLACE`: its number in the unit, whatever the query leaves out), and the columns of its `expressions`. A
    frame that has a column with the places already keeps it."""

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the task's configuration, placeholders resolved; by default it only opens.

        Raises:
            ConnectError: The task cannot work; it becomes FAILED.
        """
        self.open(config)

    def stream(self) -> SparkStream | None:
        """Return the query with state that Spark runs instead of reading units; asked after `start`.

        Its units have a `StreamBatch` as content, which `is_done`, `batches` and `end_of` get.
        """
        return None

    @abstractmethod
    def open(self, config: Mapping[str, str]) -> None:
        """Get ready to make frames or records; called once in each process.

        Raises:
            ConnectError: The configuration does not work.
        """

    @abstractmethod
    def plan(self) -> Sequence[SparkUnit]:
        """Return the units that were not returned before, in order; nothing before there are any.

        It may block no longer than a second; wait with `context.wait`. After a restart the first calls
        return what was read before, too: the engine asks `is_done`.

        Raises:
            RetriableError: The system is away; the engine calls again later.
            ConnectError: The task cannot go on; it becomes FAILED.
        """

    @abstractmethod
    def is_done(self, unit: SparkUnit, offset: SourceOffset | None) -> bool:
        """Return whether nothing of a unit is left behind a committed offset."""

    @abstractmethod
    def frame(self, session: Any, units: Sequence[SparkUnit]) -> tuple[Any, int]:  # noqa: ANN401 - PySpark's
        """Return the rows of units as a DataFrame of this SparkSession, and of how many of them it has.

        Nothing is read yet. The rows of a unit follow each other in their order. They are those of the first
        units that can be read as one, at least of the first; the others come again. A unit without a size
        comes alone.

        Raises:
            RetriableError: What it needs besides is away; the engine calls again later.
            Exception: Spark's, or the task's own; the task becomes FAILED.
        """

    @abstractmethod
    def batches(
        self, units: Sequence[SparkUnit], offsets: Sequence[SourceOffset | None], rows: Iterator[Any]
    ) -> Iterator[SourceBatch | Sequence[SourceRecord]]:
        """Make records of the rows of units, from their offsets on.

        Args:
            units: What one frame was made of.
            offsets: The committed offset of each; None where nothing of it was committed. A unit may be done.
            rows: All rows, as Arrow's record batches; with a query what it makes of them.

        Returns:
            Batches that are not empty and of one unit; each, or each record of it, with the offset behind it.

        Raises:
            DataError: A row cannot be read; the task becomes FAILED.
        """

    @abstractmethod
    def end_of(self, unit: SparkUnit, offset: SourceOffset | None) -> SourceOffset:
        """Return the offset at the end of a unit (`is_done`), given the one behind its last record."""

    def poll(self) -> None:
        """Return nothing: Spark reads."""


class SparkSinkTask(SinkTask):
    """The one task of a sink on Spark (`PluginSpec.on_spark`); `tasks.max` ranges are written at once.

    It runs in a process that has a Spark session of its own. The engine divides what Kafka has into ranges of
    offsets, and has Spark read each in one partition, where the records go through the connector's converters
    and transformations. There another instance of this class writes them, out of sight: `initialize`,
    `prepare`, `write`, `stop`. What `write` returns comes back to the task: `take`, and then `pre_commit`
    makes it count, with the positions behind it. A range that is lost is written again; only what is taken
    may count.
    """

    interval_seconds: float = 10.0
    """How long the engine waits between two rounds while there are few records; `prepare` may set it."""
    range_records: int = 500_000
    """How many records a range has at most; `prepare` may set it."""

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the task's configuration, placeholders resolved; by default it only prepares.

        Raises:
            ConnectError: The task cannot work; it becomes FAILED.
        """
        self.prepare(config)

    @abstractmethod
    def prepare(self, config: Mapping[str, str]) -> None:
        """Get ready to write or to commit; called once in each process.

        Raises:
            ConnectError: The configuration does not work.
        """

    @abstractmethod
    def stored_positions(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int] | None:
        """Say where reading resumes, and drop what was taken; see `SinkTask`, for every guarantee."""

    @abstractmethod
    def write(self, batches: Iterator[SinkBatch]) -> Any:  # noqa: ANN401 - the plugin's own
        """Write the records of a range, in a partition of Spark.

        What it returns is given to `take`, in another process (pickle). Records that cannot be written go to
        `context.errant_record_reporter`.

        Raises:
            RetriableError: The system is away; the range is written again.
            ConnectError: The task cannot go on; it becomes FAILED.
        """

    @abstractmethod
    def take(self, written: Sequence[Any]) -> None:
        """Note what ranges have written, each once; `pre_commit` makes it count."""

    def put(self, records: SinkBatch) -> None:
        """Do nothing: partitions of Spark write."""
