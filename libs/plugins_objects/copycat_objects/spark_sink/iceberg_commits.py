"""Snapshots of an Iceberg table: files are added together with the positions of the records they have.

Positions are in a property of the table, which a commit changes together with its snapshot; pyiceberg
commits. The property also counts the connector's commits, each of which makes a snapshot, be it without
files, and demands that the table's newest snapshot is the one that it was made upon. So a task which begins,
and commits, bars those before it: their commits are refused, and the table that they then read has another
number. For that pyiceberg may not repeat commits by itself.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from copycat_connect.data import TopicPartition
from copycat_connect.errors import ConnectError, RetriableError
from pyiceberg.exceptions import CommitFailedException, TableAlreadyExistsError
from pyiceberg.io.pyarrow import parquet_file_to_data_file
from pyiceberg.table import Table, TableProperties, Transaction
from pyiceberg.transforms import IdentityTransform

from copycat_objects.lakehouse.catalog import CatalogTable, failures
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
#: What new tables are set to: old metadata would stay for ever, and manifests grow in number.
_OF_NEW_TABLES: Final = {
    TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED: "true",
    TableProperties.MANIFEST_MERGE_ENABLED: "true",
}


@dataclass(frozen=True, slots=True)
class IcebergPlace:
    """Where a table is."""

    name: str
    """Its namespace and name in the catalog."""
    address: str
    """Its folder as a URL, s3://bucket/folder or file:///folder."""
    properties: Mapping[str, str] = field(repr=False)
    """How pyiceberg reaches the catalog and the files."""

    @classmethod
    def of(cls, settings: SparkSinkSettings) -> IcebergPlace:
        """Return that of a configuration."""
        parts = urlsplit(settings.store_url.strip())
        root = unquote(parts.path).rstrip("/")
        start = f"s3://{parts.netloc}{root}" if parts.scheme == "s3" else f"file://{root}"
        files = {
            "s3.region": settings.s3_region,
            "s3.access-key-id": settings.aws_access_key_id,
            "s3.secret-access-key": settings.aws_secret_access_key.value,
            "s3.endpoint": settings.s3_endpoint or "",
            "s3.force-virtual-addressing": "" if settings.s3_path_style_access_enabled else "true",
        }
        own = {name: value for name, value in files.items() if value and parts.scheme == "s3"}
        address = "/".join(filter(None, (start, settings.prefix.strip("/"))))
        return cls(settings.iceberg.table, address, {**own, **settings.iceberg.properties})


@dataclass(frozen=True, slots=True)
class _Progress:
    """How far a connector is, as the table's property has it."""

    commits: int = 0
    """Counts the connector's commits."""
    positions: Mapping[str, int] = field(default_factory=dict)
    """Offsets of the first records that the table does not have, by `topic-partition`."""

    def encode(self) -> str:
        return json.dumps({"commits": self.commits, "positions": self.positions}, separators=(",", ":"))

    @classmethod
    def of(cls, table: Table | None, name: str) -> _Progress:
        """Read the property.

        Raises:
            ConnectError: It is malformed.
        """
        text = None if table is None else table.metadata.properties.get(name)
        if text is None:
            return cls()
        try:
            found = json.loads(text)
            positions = {str(each): int(offset) for each, offset in found["positions"].items()}
            return cls(int(found["commits"]), positions)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConnectError(
                f"The property {name} of the table is malformed: somebody else changed it. Remove it to go "
                "on where the consumer group is"
            ) from error


class IcebergCommits(TableCommits):
    """Snapshots of a table of Apache Iceberg; see the port."""

    def __init__(self, place: IcebergPlace, connector: str, partition_by: Sequence[str]) -> None:
        """Choose the table, the connector's name, and the partition columns of a new table."""
        self._place, self._partition_by = place, list(partition_by)
        self._connector, self._property = connector, f"copycat.{connector}"
        self._catalog_table = CatalogTable(place.name, place.properties)
        self._table: Table | None = None
        self._progress = _Progress()

    def columns(self) -> SinkColumns:
        """Return the columns; see the port."""
        table = self._load()
        if table is None:
            return SinkColumns(ColumnTypes({}, _kept), self._partition_by, in_files=True)
        known = {each.name: _plain(each.type) for each in table.schema().as_arrow()}
        return SinkColumns(ColumnTypes(known, _kept), self._division(table), in_files=True)

    def claim(self) -> None:
        """Make a snapshot without files; see the port."""
        self._table = self._load()
        self._progress = _Progress.of(self._table, self._property)
        if self._table is not None:
            self._division(self._table)
            self._commit([], self._progress.positions, is_claim=True)

    def positions(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return what the property has; see the port."""
        known = self._progress.positions
        return {each: known[position_key(each)] for each in partitions if position_key(each) in known}

    def add(self, files: Sequence[WrittenFile], positions: Mapping[TopicPartition, int]) -> None:
        """Make a snapshot of files; see the port."""
        if self._table is None:
            if not files:
                return
            self._table = self._make(merged(file.schema for file in files))
            self._progress = _Progress(self._progress.commits + 1)
        moved = {position_key(each): offset for each, offset in positions.items()}
        self._commit(files, {**self._progress.positions, **moved})

    def change(self, offsets: Mapping[TopicPartition, int | None]) -> None:
        """Commit other positions; see the port."""
        self._table = self._load()
        if self._table is None:
            return
        self._progress = _Progress.of(self._table, self._property)
        left = dict(self._progress.positions) if offsets else {}
        for each, offset in offsets.items():
            left.pop(position_key(each), None)
            if offset is not None:
                left[position_key(each)] = offset
        self._commit([], left)

    def close(self) -> None:
        """Let go of the catalog."""
        self._catalog_table.close()

    def _load(self) -> Table | None:
        """Read the table; None where it is missing.

        Raises:
            RetriableError: It cannot be read.
            ConnectError: The catalog cannot be used, or has the table elsewhere.
        """
        table = self._catalog_table.load()
        if table is not None:
            self._check_address(table)
        return table

    def _check_address(self, table: Table) -> None:
        """Accept a table whose files are where new ones are written.

        Raises:
            ConnectError: They are elsewhere.
        """
        found = table.location().rstrip("/")
        if found not in {self._place.address, self._place.address.removeprefix("file://")}:
            raise ConnectError(
                f"The files of the table {self._place.name} are in {found}, not in {self._place.address}: "
                "set store.url and prefix to that folder"
            )

    def _division(self, table: Table) -> list[str]:
        """Return the columns by which a table is divided.

        Raises:
            ConnectError: It is divided by what is computed of columns.
        """
        schema = table.schema()
        for each in table.spec().fields:
            if not isinstance(each.transform, IdentityTransform):
                raise ConnectError(
                    f"The table {self._place.name} is divided by {each.transform} of "
                    f"{schema.find_column_name(each.source_id)}; this connector writes tables that are "
                    "divided by columns as they are, or not at all"
                )
        return [str(schema.find_column_name(each.source_id)) for each in table.spec().fields]

    def _make(self, schema: pa.Schema) -> Table:
        """Make the table and count that as a commit.

        Raises:
            FencedError: Another task has made it.
            ConnectError: It cannot be made.
        """
        if (missing := missing_division(self._partition_by, schema)) is not None:
            raise missing
        place, first = self._place, _Progress(self._progress.commits + 1)
        properties = {**_OF_NEW_TABLES, self._property: first.encode()}
        with failures(f"The table {place.name} cannot be made"):
            try:
                catalog = self._catalog_table.catalog
                catalog.create_namespace_if_not_exists(place.name.rpartition(".")[0])
                new = catalog.create_table_transaction(
                    place.name, schema, location=place.address, properties=properties
                )
                with new as transaction, transaction.update_spec() as division:
                    for name in self._partition_by:
                        division.add_identity(name)
            except (CommitFailedException, TableAlreadyExistsError) as error:
                raise fenced(place.name) from error
        table = self._load()
        if table is None or _Progress.of(table, self._property) != first:
            raise fenced(place.name)
        return table

    def _commit(
        self, files: Sequence[WrittenFile], positions: Mapping[str, int], *, is_claim: bool = False
    ) -> None:
        """Make a snapshot upon the newest one.

        Raises:
            FencedError: Another task writes the table.
            RetriableError: It is not known whether it was done.
            ConnectError: It was not done.
        """
        for _ in range(MAX_RETRIES):
            table = self._single_try()
            progress = _Progress(self._progress.commits + 1, positions)
            with failures(f"The table {self._place.name} took no commit"):
                try:
                    self._staged(table, files, progress).commit_transaction()
                except CommitFailedException as error:
                    _log.info("Another writer of the table %s came first: %s", self._place.name, error)
                else:
                    self._table, self._progress = table, progress
                    return
            self._table = self._load()
            found = _Progress.of(self._table, self._property)
            if self._table is None or (found != self._progress and not is_claim):
                raise fenced(self._place.name)
            if is_claim:
                self._progress, positions = found, found.positions
        raise RetriableError(f"Other writers of the table {self._place.name} always come first")

    def _staged(self, table: Table, files: Sequence[WrittenFile], progress: _Progress) -> Transaction:
        """Return a transaction of new columns, positions and files."""
        transaction, metadata = table.transaction(), table.metadata
        known = {each.name for each in metadata.schema().fields}
        new = [each for each in merged(file.schema for file in files) if each.name not in known]
        if new:
            names = ", ".join(each.name for each in new)
            _log.info("The table %s has new columns: %s", self._place.name, names)
            with transaction.update_schema() as columns:
                columns.union_by_name(pa.schema(new))
        properties = {self._property: progress.encode()}
        if metadata.name_mapping() is None:
            # The files have no numbers of columns, which are given when the table gets them.
            names_of = transaction.table_metadata.schema().name_mapping
            properties[TableProperties.DEFAULT_NAME_MAPPING] = names_of.model_dump_json()
        transaction.set_properties(properties)
        said = {"copycat.connector": self._connector}
        with transaction.update_snapshot(said).merge_append() as snapshot:
            for file in files:
                path = f"{self._place.address}/{file.path}"
                found = parquet_file_to_data_file(table.io, transaction.table_metadata, path)
                snapshot.append_data_file(found)
        return transaction

    def _single_try(self) -> Table:
        """Return the table as pyiceberg commits it without trying again, and with what it needs of files."""
        table = self._table
        assert table is not None  # whoever calls has looked
        prefix = TableProperties.METRICS_MODE_COLUMN_CONF_PREFIX
        counted = {f"{prefix}.{name}": "full" for name in self._division(table)}
        changed = {**table.metadata.properties, **counted, TableProperties.COMMIT_NUM_RETRIES: "0"}
        metadata = table.metadata.model_copy(update={"properties": changed})
        return Table(table.name(), metadata, table.metadata_location, table.io, table.catalog)


def _kept(type_: pa.DataType) -> pa.DataType:
    """Return the type of a column: integers have 32 bits or more, times of day microseconds."""
    if pa.types.is_int8(type_) or pa.types.is_int16(type_):
        return pa.int32()
    return pa.time64("us") if pa.types.is_time32(type_) else type_


def _plain(type_: pa.DataType) -> pa.DataType:
    """Return a type of a column as partitions of Spark write it: pyiceberg has large ones."""
    if pa.types.is_large_string(type_):
        return pa.string()
    if pa.types.is_large_binary(type_):
        return pa.binary()
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(part.name, _plain(part.type), part.nullable) for part in type_])
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return pa.list_(pa.field("element", _plain(type_.value_type)))
    if pa.types.is_map(type_):
        return pa.map_(_plain(type_.key_type), _plain(type_.item_type))
    return type_
