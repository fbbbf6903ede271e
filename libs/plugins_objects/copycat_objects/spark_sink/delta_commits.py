"""Versions of a Delta table: files are added together with the positions of the records they have.

Positions are application transactions of the table's log (`txn` of the Delta Transaction Log Protocol), one
for each topic-partition; delta-rs commits. Beside them a connector has a transaction that counts its commits.
A commit fails if another one with that transaction was made since the table was last read, so that a task
which begins, and commits a number, bars those before it.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from copycat_connect.data import TopicPartition
from copycat_connect.errors import ConnectError, RetriableError
from deltalake import CommitProperties, DeltaTable, Field, Schema, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction

from copycat_objects.commit_log import FencedError
from copycat_objects.spark_sink.keyed_rows import DELETED, OWN
from copycat_objects.spark_sink.settings import SparkSinkSettings
from copycat_objects.spark_sink.table_commits import (
    MAX_RETRIES,
    SinkColumns,
    TableCommits,
    fenced,
    missing_division,
    position_key,
)
from copycat_objects.spark_sink.table_files import WrittenFile
from copycat_objects.spark_sink.table_rows import ColumnTypes, merged

_log = logging.getLogger(__name__)
#: What a position is that a user has taken away: numbers of transactions cannot be removed.
_NOWHERE: Final = -1


@dataclass(frozen=True, slots=True)
class TablePlace:
    """Where a table is."""

    address: str
    """Its folder, or s3://bucket/folder."""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """How delta-rs reaches it there."""

    @classmethod
    def of(cls, settings: SparkSinkSettings) -> TablePlace:
        """Return that of a configuration."""
        parts, prefix = urlsplit(settings.store_url.strip()), settings.prefix.strip("/")
        root = unquote(parts.path).rstrip("/")
        if parts.scheme != "s3":
            return cls("/".join(filter(None, (root or "/", prefix))))
        options = {
            "aws_region": settings.s3_region,
            "aws_access_key_id": settings.aws_access_key_id,
            "aws_secret_access_key": settings.aws_secret_access_key.value,
            "aws_endpoint_url": settings.s3_endpoint or "",
            "aws_allow_http": "true" if (settings.s3_endpoint or "").startswith("http://") else "",
            "aws_virtual_hosted_style_request": "" if settings.s3_path_style_access_enabled else "true",
        }
        address = "/".join(filter(None, (f"s3://{parts.netloc}{root}", prefix)))
        return cls(address, {name: value for name, value in options.items() if value})

    def table(self) -> DeltaTable | None:
        """Read the table; None where it is missing.

        Raises:
            RetriableError: It cannot be read.
        """
        try:
            return DeltaTable(self.address, storage_options=dict(self.options))
        except TableNotFoundError:
            return None
        except (DeltaError, OSError) as error:
            raise RetriableError(f"The table {self.address} cannot be read: {error}") from error


class DeltaCommits(TableCommits):
    """Versions of a table of Delta Lake; see the port."""

    def __init__(self, place: TablePlace, connector: str, partition_by: Sequence[str]) -> None:
        """Choose the table, the connector's name, and the partition columns of a new table."""
        self._place, self._partition_by = place, list(partition_by)
        self._application = f"copycat/{connector}"
        self._table: DeltaTable | None = None
        self._number = 0

    def columns(self) -> SinkColumns:
        """Return the columns; see the port."""
        table = self._place.table()
        if table is None:
            return SinkColumns(ColumnTypes({}, _kept), self._partition_by, in_files=False)
        known = {field.name: field.type for field in pa.schema(table.schema())}
        return SinkColumns(ColumnTypes(known, _kept), table.metadata().partition_columns, in_files=False)

    def claim(self) -> None:
        """Commit a number, after those that the task before commits meanwhile; see the port."""
        for _ in range(MAX_RETRIES):
            self._table = self._place.table()
            self._number = self._counted()
            if self._table is None:
                return
            with suppress(FencedError):
                self._commit([], {})
                return
        raise fenced(self._place.address)

    def positions(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the versions of transactions; see the port."""
        table = self._table
        if table is None:
            return {}
        found = {each: table.transaction_version(self._id_of(each)) for each in partitions}
        return {each: offset for each, offset in found.items() if offset is not None and offset >= 0}

    def add(self, files: Sequence[WrittenFile], positions: Mapping[TopicPartition, int]) -> None:
        """Commit files with transactions; see the port."""
        schema = merged(file.schema for file in files)
        if self._table is None:
            if not files:
                return
            self._make(schema)
        self._follow()
        self._widen(schema)
        self._commit(files, positions)

    def merge(
        self,
        rows: pa.Table,
        keys: Sequence[str],
        positions: Mapping[TopicPartition, int],
    ) -> None:
        """Have delta-rs merge rows; see the port."""
        schema = rows.drop_columns([*OWN]).schema
        if self._table is None:
            self._make(schema)
        self._follow()
        self._widen(schema)
        same = " AND ".join(f"t.{_quoted(name)} = s.{_quoted(name)}" for name in keys)
        transactions = self._transactions(positions)
        merger = self._opened.merge(
            rows,
            same,
            source_alias="s",
            target_alias="t",
            commit_properties=self._properties(transactions),
        )
        merger = merger.when_matched_delete(f"s.{DELETED}").when_matched_update_all(except_cols=[*OWN])
        merger = merger.when_not_matched_insert_all(f"NOT s.{DELETED}", except_cols=[*OWN])
        self._attempt(merger.execute)
        self._number += 1
        self._follow()

    def compact(self) -> None:
        """Have delta-rs rewrite files; what others change meanwhile stays as it is."""
        if self._table is None:
            return
        try:
            self._table.optimize.compact()
        except (DeltaError, OSError) as error:
            _log.warning("The files of the table %s are compacted later: %s", self._place.address, error)
        self._follow()

    def change(self, offsets: Mapping[TopicPartition, int | None]) -> None:
        """Commit positions, or a new epoch; see the port."""
        self._table = self._place.table()
        if self._table is None:
            return
        self._number = self._counted()
        if offsets:
            changed = {each: _NOWHERE if offset is None else offset for each, offset in offsets.items()}
            self._commit([], changed)
        else:
            self._commit([], {}, epoch=self._epoch() + 1)

    def close(self) -> None:
        """Do nothing: delta-rs holds no connections."""

    def _counted(self) -> int:
        found = self._table.transaction_version(self._application) if self._table is not None else None
        return found or 0

    def _epoch(self) -> int:
        found = self._table.transaction_version(f"{self._application}/epoch") if self._table else None
        return found or 0

    def _id_of(self, partition: TopicPartition) -> str:
        # A new epoch forgets all positions: the library does not list transactions, to be changed one by one.
        return f"{self._application}/{self._epoch()}/{position_key(partition)}"

    def _follow(self) -> None:
        """Read what was committed since.

        Raises:
            FencedError: A commit is of another task of this connector.
        """
        table = self._opened
        try:
            table.update_incremental()
        except (DeltaError, OSError) as error:
            raise RetriableError(f"The table {self._place.address} cannot be read: {error}") from error
        if self._counted() != self._number:
            raise fenced(self._place.address)

    def _make(self, schema: pa.Schema) -> None:
        if (missing := missing_division(self._partition_by, schema)) is not None:
            raise missing
        try:
            self._table = DeltaTable.create(
                self._place.address,
                schema,
                partition_by=self._partition_by,
                storage_options=dict(self._place.options),
                commit_properties=self._properties([(self._application, self._number + 1)]),
            )
        except (DeltaError, OSError) as error:
            self._table = self._place.table()
            if self._table is None or self._counted() == self._number:
                raise ConnectError(f"The table {self._place.address} cannot be made: {error}") from error
            raise fenced(self._place.address) from error
        self._number += 1

    def _widen(self, schema: pa.Schema) -> None:
        """Add columns that rows have and the table has not."""
        table = self._opened
        known = {field.name for field in table.schema().fields}
        new = [field for field in schema if field.name not in known]
        if not new:
            return
        fields: list[Field] = list(Schema.from_arrow(pa.schema(new)).fields)
        names = ", ".join(field.name for field in fields)
        _log.info("The table %s has new columns: %s", self._place.address, names)
        properties = self._properties([(self._application, self._number + 1)])
        self._attempt(lambda: table.alter.add_columns(fields, commit_properties=properties))
        self._number += 1
        self._follow()

    def _commit(
        self,
        files: Sequence[WrittenFile],
        positions: Mapping[TopicPartition, int],
        *,
        epoch: int | None = None,
    ) -> None:
        table = self._opened
        transactions = self._transactions(positions)
        if epoch is not None:
            transactions.append((f"{self._application}/epoch", epoch))
        now = int(time.time() * 1000)
        actions: list[AddAction | RemoveAction] = [
            AddAction(file.path, file.size, file.values, now, True, json.dumps({"numRecords": file.rows}))
            for file in files
        ]
        self._attempt(
            lambda: table.create_write_transaction(
                actions,
                "append",
                table.schema(),
                partition_by=table.metadata().partition_columns,
                commit_properties=self._properties(transactions),
            )
        )
        self._number += 1
        self._follow()

    def _transactions(self, positions: Mapping[TopicPartition, int]) -> list[tuple[str, int]]:
        found = [(self._application, self._number + 1)]
        return found + [(self._id_of(each), offset) for each, offset in positions.items()]

    def _attempt(self, commit: Callable[[], object]) -> None:
        try:
            commit()
        except (DeltaError, OSError) as error:
            if isinstance(error, CommitFailedError):
                self._opened.update_incremental()
                if self._counted() != self._number:
                    raise fenced(self._place.address) from error
            raise RetriableError(f"The table {self._place.address} took no commit: {error}") from error

    def _properties(self, transactions: Iterable[tuple[str, int]]) -> CommitProperties:
        return CommitProperties(
            custom_metadata={"writer": self._application},
            max_commit_retries=MAX_RETRIES,
            app_transactions=[Transaction(name, number) for name, number in transactions],
        )

    @property
    def _opened(self) -> DeltaTable:
        assert self._table is not None  # whoever calls has looked
        return self._table


def _kept(type_: pa.DataType) -> pa.DataType:
    """Return the type of a column: times of day have no type of their own."""
    return pa.int32() if pa.types.is_time32(type_) else type_


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
