"""Topics of the worker's Kafka as rows of Spark, for sources on Spark that make other topics of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from copycat_connect.cluster import Config, TopicPartition
from copycat_connect.config.framework_names import (
    HEADER_CONVERTER,
    KEY_CONVERTER,
    PREDICATES,
    TOPICS,
    TRANSFORMS,
    VALUE_CONVERTER,
)
from copycat_connect.data.batches import SinkBatch
from copycat_connect.errors import DataError
from copycat_connect.plugin.contexts import SourceTaskContext

INPUT: Final = "input."
"""What the keys of converters begin with that are for what is read: `input.value.converter`."""
INPUT_TOPICS: Final = "input.topics"
"""The key with the topics that are read."""
_CONVERTERS: Final = (KEY_CONVERTER, VALUE_CONVERTER, HEADER_CONVERTER)


@dataclass(frozen=True, slots=True)
class RecordRange:
    """Records of one partition of a topic, to be read as a whole."""

    partition: TopicPartition
    """Where they are."""
    begin: int
    """Offset of the first one."""
    end: int
    """Offset behind the last one."""


ReportRecord = Callable[[SinkBatch, int, DataError], None]
"""Takes a record that is no row, by its batch and its place there. Raises DataError where nobody takes it."""


class RowsOfRecords(Protocol):
    """Makes rows of records, in a partition of Spark; travels there by pickle."""

    def __call__(self, batches: Iterator[SinkBatch], report: ReportRecord) -> Iterator[Any]:
        """Yield Arrow's record batches with the columns that the frame is to have."""


class TopicRows(Protocol):
    """Reads topics as a sink would: through converters, tolerance and dead letters, but for no group."""

    def bounds(
        self, topics: Collection[str], read: Mapping[TopicPartition, int]
    ) -> Mapping[TopicPartition, tuple[int, int]]:
        """Return the first offset, and that behind the last record, of every partition of topics; blocks.

        A topic that is not there has none; the status says that the task waits for it.

        Args:
            topics: Their names.
            read: The offset up to which partitions were read that were read before.

        Raises:
            RetriableError: Kafka cannot be reached now.
            OffsetLostError: A partition ends before that: its topic was deleted and made anew.
        """

    def frame(
        self,
        session: Any,  # noqa: ANN401 - PySpark's
        ranges: Sequence[RecordRange],
        columns: Any,  # noqa: ANN401 - PySpark's
        rows: RowsOfRecords,
    ) -> Any:  # noqa: ANN401 - PySpark's
        """Return what is made of the records of ranges as a DataFrame in one partition; nothing is read yet.

        Args:
            session: The SparkSession.
            ranges: What is read, each of another partition.
            columns: PySpark's schema of the rows.
            rows: Makes them.
        """

    def stream(
        self,
        session: Any,  # noqa: ANN401 - PySpark's
        begin: Mapping[TopicPartition, int],
        columns: Any,  # noqa: ANN401 - PySpark's
        rows: RowsOfRecords,
        most: int,
    ) -> Any:  # noqa: ANN401 - PySpark's
        """Return what is made of all records of topics as a streaming DataFrame.

        Args:
            session: The SparkSession.
            begin: Where a new query begins, in each partition of the topics.
            columns: PySpark's schema of the rows.
            rows: Makes them.
            most: How many records a batch has of each partition at most.
        """


class TopicSourceContext(SourceTaskContext, Protocol):
    """What the engine offers to a source on Spark besides."""

    @property
    def topics(self) -> TopicRows:
        """Reads topics of the worker's Kafka."""


def input_config(config: Config) -> dict[str, str | None]:
    """Return the configuration of a sink that reads what a source on Spark does.

    Its converters are those with the prefix `input.`, or else the connector's; transformations are for what
    the source gives.
    """
    given = {name: text for name, text in config.items() if not _is_of(name, (TRANSFORMS, PREDICATES))}
    for converter in _CONVERTERS:
        if f"{INPUT}{converter}" in given:
            given = {name: text for name, text in given.items() if not _is_of(name, (converter,))}
    inner = {name.removeprefix(INPUT): text for name, text in given.items() if name.startswith(INPUT)}
    converters = {name: text for name, text in inner.items() if _is_of(name, _CONVERTERS)}
    return {**given, **converters, TOPICS: given.get(INPUT_TOPICS)}


def _is_of(name: str, keys: Collection[str]) -> bool:
    return any(name == key or name.startswith(f"{key}.") for key in keys)
