"""What SparkSink needs of a table, whatever its format: columns, and commits of files with positions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from copycat_connect.data import TopicPartition
from copycat_connect.errors import ConnectError

from copycat_objects.commit_log import FencedError
from copycat_objects.spark_sink.table_files import WrittenFile
from copycat_objects.spark_sink.table_rows import ColumnTypes

#: Commits of other writers that may come first, one after the other.
MAX_RETRIES: Final = 100


@dataclass(frozen=True, slots=True)
class SinkColumns:
    """What partitions of Spark need to know of a table."""

    types: ColumnTypes
    """The types of its columns."""
    divided_by: Sequence[str]
    """Columns by whose contents its files are divided."""
    in_files: bool
    """Whether files have those columns, too."""
    staged_in: str | None = None
    """Folder below the table's for files until they are committed; None where nobody sees them before."""


class TableCommits(ABC):
    """Commits of one connector to one table; each has the positions of the records that it adds.

    A task that begins claims the table, after which those before it can commit no more.
    """

    @abstractmethod
    def columns(self) -> SinkColumns:
        """Return the columns of the table, or those by which a new one is divided.

        Raises:
            RetriableError: The table cannot be read.
        """

    @abstractmethod
    def claim(self) -> None:
        """Read the table and bar the tasks before; does nothing where there is no table yet.

        Raises:
            RetriableError: The table cannot be read or written.
        """

    @abstractmethod
    def positions(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the positions that the table has."""

    @abstractmethod
    def add(self, files: Sequence[WrittenFile], positions: Mapping[TopicPartition, int]) -> None:
        """Add files and set positions, at once; a table that is missing is made, once there are files.

        Raises:
            FencedError: Another task writes the table.
            RetriableError: It is not known whether it was done: claim the table again.
            ConnectError: It was not done.
        """

    @abstractmethod
    def change(self, offsets: Mapping[TopicPartition, int | None]) -> None:
        """Set positions, or with None take them away; all of them where none is given.

        Raises:
            RetriableError: The table cannot be read or written.
        """

    def merge(self, rows: pa.Table, keys: Sequence[str], positions: Mapping[TopicPartition, int]) -> None:
        """Change the table by rows, each of another key (`keyed_rows.newest`), and set positions, at once.

        Raises:
            FencedError: Another task writes the table.
            RetriableError: It is not known whether it was done: claim the table again.
            ConnectError: It was not done, or tables of this format cannot be changed.
        """
        raise ConnectError("Rows of tables of this format are appended, not changed by key")

    def compact(self) -> None:
        """Rewrite small files as larger ones, for all who read.

        Raises:
            FencedError: Another task writes the table.
            ConnectError: Others see to tables of this format.
        """
        raise ConnectError("Files of tables of this format are not compacted here")

    @abstractmethod
    def close(self) -> None:
        """Let go of connections."""


def position_key(partition: TopicPartition) -> str:
    """Return what positions of a table call a topic-partition."""
    return f"{partition.topic}-{partition.partition}"


def fenced(table: str) -> FencedError:
    """Return the error of a task that may not commit any more."""
    return FencedError(
        f"Another task or connector of this name writes the table {table} now: where two "
        "clusters have connectors of one name for one table, give one another name"
    )


def missing_division(columns: Sequence[str], schema: pa.Schema) -> ConnectError | None:
    """Return the error of a new table that is to be divided by a column that its rows do not have."""
    missing = next((name for name in columns if name not in schema.names), None)
    if missing is None:
        return None
    return ConnectError(f"The records have no field {missing}, by which the table is to be divided")
