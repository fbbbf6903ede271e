"""Tables and files in a folder as SparkSink writes them, of each format, and as its library reads them."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from copycat_connect.data import (
    INT32_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    Schema,
    SchemaBuilder,
    SinkBatch,
    SinkRecord,
    Struct,
    TopicPartition,
)
from copycat_connect.errors import DataError
from copycat_objects.spark_sink.delta_commits import DeltaCommits, TablePlace
from copycat_objects.spark_sink.file_commits import FileCommits
from copycat_objects.spark_sink.iceberg_commits import IcebergCommits, IcebergPlace
from copycat_objects.spark_sink.table_commits import TableCommits
from copycat_objects.spark_sink.table_files import TableWriter, WrittenFile
from copycat_objects.spark_sink.table_rows import ValueRows
from copycat_objects.stores.local import LocalStore
from copycat_objects.stores.store import Store
from deltalake import DeltaTable, write_deltalake
from pyarrow import orc
from pyiceberg.catalog import Catalog, load_catalog

from tests.watched_store import Watch, WatchedStore

PARTITION = TopicPartition("t", 0)


class SinkTable(ABC):
    """A table, and what of its records could not be written."""

    def __init__(self, root: Path, *partition_by: str, ignore_nulls: bool = False) -> None:
        self.root = root
        self.folder = root / "lake/t"
        self.partition_by = partition_by
        self.reported: list[tuple[int, str]] = []
        self._ignore_nulls = ignore_nulls

    def commits(self, connector: str = "c") -> TableCommits:
        """Return the commits of a task that has begun."""
        commits = self.opened(connector)
        commits.claim()
        return commits

    def write(self, *values: ConnectValue, schema: Schema | None = None) -> list[WrittenFile]:
        """Write records as a partition of Spark does; a struct has its own schema."""

        def report(batch: SinkBatch, place: int, error: DataError) -> None:
            self.reported.append((batch[place].offset, str(error)))

        columns = self.opened().columns()
        writer = TableWriter(
            self.store(),
            "lake/t",
            report,
            rows=ValueRows(columns.types),
            partition_by=columns.divided_by,
            keeps_partitions=columns.in_files,
            codec="snappy",
            ignore_nulls=self._ignore_nulls,
            staged_in=columns.staged_in,
            as_orc=isinstance(self, OrcSinkFiles),
        )
        records = [
            SinkRecord("t", 0, offset, value=value, value_schema=value.schema)
            if isinstance(value, Struct)
            else SinkRecord("t", 0, offset, value=value, value_schema=schema)
            for offset, value in enumerate(values)
        ]
        writer.write(SinkBatch.of(records))
        return writer.finish()

    def store(self) -> Store:
        """Return the store of its files."""
        return LocalStore(self.root)

    def ids(self) -> list[Any]:
        """Return the ids of the rows, sorted."""
        return sorted(row["id"] for row in self.rows())

    @property
    @abstractmethod
    def config(self) -> dict[str, str]:
        """The configuration of a connector that writes it."""

    @abstractmethod
    def opened(self, connector: str = "c") -> TableCommits:
        """Return commits that are not begun."""

    @abstractmethod
    def is_there(self) -> bool:
        """Return whether there is a table."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return the rows as the format's library reads them."""

    @abstractmethod
    def schema(self) -> pa.Schema:
        """Return the columns as it has them."""

    @abstractmethod
    def append(self, rows: pa.Table) -> None:
        """Have another writer add rows, perhaps with more columns."""


class DeltaSinkTable(SinkTable):
    """A table of Delta Lake."""

    @property
    def config(self) -> dict[str, str]:
        """Of a folder."""
        return {"name": "c", "topics": "t", "store.url": f"file://{self.root}", "prefix": "lake/t"}

    def opened(self, connector: str = "c") -> DeltaCommits:
        """Return commits of delta-rs."""
        return DeltaCommits(TablePlace(str(self.folder)), connector, self.partition_by)

    def is_there(self) -> bool:
        """Look for a log."""
        return DeltaTable.is_deltatable(str(self.folder))

    def rows(self) -> list[dict[str, Any]]:
        """Read with delta-rs."""
        found: list[dict[str, Any]] = DeltaTable(str(self.folder)).to_pyarrow_table().to_pylist()
        return found

    def schema(self) -> pa.Schema:
        """Return those of the log."""
        return pa.schema(DeltaTable(str(self.folder)).schema())

    def append(self, rows: pa.Table) -> None:
        """Append with delta-rs."""
        write_deltalake(str(self.folder), rows, mode="append", schema_mode="merge")


class IcebergSinkTable(SinkTable):
    """A table of Iceberg, whose catalog is a file beside it."""

    name = "shop.t"

    @property
    def config(self) -> dict[str, str]:
        """Of a folder and a catalog."""
        return {
            "name": "c",
            "topics": "t",
            "store.url": f"file://{self.root}",
            "prefix": "lake/t",
            "format": "iceberg",
            "iceberg.table": self.name,
            **{f"iceberg.catalog.{name}": value for name, value in self.properties.items()},
        }

    @property
    def properties(self) -> dict[str, str]:
        """Those of the catalog."""
        return {"type": "sql", "uri": f"sqlite:///{self.root}/catalog.db"}

    def catalog(self) -> Catalog:
        """Return the catalog as another program has it."""
        return load_catalog("default", **self.properties)

    def opened(self, connector: str = "c") -> IcebergCommits:
        """Return commits of pyiceberg."""
        place = IcebergPlace(self.name, f"file://{self.folder}", self.properties)
        return IcebergCommits(place, connector, self.partition_by)

    def is_there(self) -> bool:
        """Ask the catalog."""
        return self.catalog().table_exists(self.name)

    def rows(self) -> list[dict[str, Any]]:
        """Read with pyiceberg."""
        found: list[dict[str, Any]] = self.catalog().load_table(self.name).scan().to_arrow().to_pylist()
        return found

    def schema(self) -> pa.Schema:
        """Return those of the newest metadata."""
        return self.catalog().load_table(self.name).schema().as_arrow()

    def append(self, rows: pa.Table) -> None:
        """Append with pyiceberg."""
        table = self.catalog().load_table(self.name)
        with table.transaction() as transaction:
            with transaction.update_schema() as columns:
                columns.union_by_name(rows.schema)
            transaction.append(rows)


class ParquetSinkFiles(SinkTable):
    """Files of Parquet without a table, as pyarrow lists and reads them."""

    format = "parquet"
    watch: Watch | None = None
    """Sees each change of the store."""

    @property
    def config(self) -> dict[str, str]:
        """Of a folder."""
        place = {"store.url": f"file://{self.root}", "prefix": "lake/t"}
        return {"name": "c", "topics": "t", "format": self.format, **place}

    def opened(self, connector: str = "c") -> FileCommits:
        """Return commits of files."""
        return FileCommits(self.store(), "lake/t", self.format, connector, self.partition_by)

    def is_there(self) -> bool:
        """Look for files that are seen."""
        return bool(self.listed().files)

    def rows(self) -> list[dict[str, Any]]:
        """Read with pyarrow."""
        found: list[dict[str, Any]] = self.listed().to_table().to_pylist()
        return found

    def schema(self) -> pa.Schema:
        """Return all columns that files have."""
        found = [each.physical_schema for each in self.listed().get_fragments()]
        return pa.unify_schemas(found)

    def append(self, rows: pa.Table) -> None:
        """Write a file beside the others."""
        pq.write_table(rows, self.folder / "other.parquet")

    def store(self) -> Store:
        """Return the store, watched where somebody watches."""
        store = self.plain_store()
        return store if self.watch is None else WatchedStore(store, self.watch)

    def plain_store(self) -> Store:
        """Return the store itself."""
        return super().store()

    def seen(self) -> list[int]:
        """Return the ids in all files that are seen, whichever columns they have."""
        store = self.plain_store()
        files = [each.path for each in store.list("lake/t") if each.path.endswith(f".{self.format}")]
        read = pq.read_table if self.format == "parquet" else orc.read_table
        found = [read(io.BytesIO(store.read(path, 0, 1 << 30)), columns=["id"]) for path in files]
        return sorted(number for each in found for number in each["id"].to_pylist())

    def staged(self) -> list[str]:
        """Return files that no commit has."""
        return [each.path for each in self.plain_store().list("lake/t/_copycat/c.staged")]

    def run(self, *ends: int) -> None:
        """Have a task begin, and write records up to each of these offsets that is ahead, in a commit."""
        commits = self.commits()
        begin = commits.positions([PARTITION]).get(PARTITION, 0)
        for end in ends:
            if begin < end:
                values = [
                    struct(id=(INT32_SCHEMA, number), word=(STRING_SCHEMA, "ab"[number % 2]))
                    for number in range(begin, end)
                ]
                commits.add(self.write(*values), {PARTITION: end})
                begin = end

    def listed(self) -> ds.Dataset:
        """Return the files below the folder, divided as Hive does, and with all columns."""
        types = pa.schema([*self.opened().columns().types.known.items()])
        divided = pa.schema([each for each in types if each.name in self.partition_by])
        by_hive = ds.partitioning(divided, flavor="hive")
        return ds.dataset(self.folder, types, self.format, partitioning=by_hive)


class OrcSinkFiles(ParquetSinkFiles):
    """Files of ORC."""

    format = "orc"

    def append(self, rows: pa.Table) -> None:
        """Write a file beside the others."""
        orc.write_table(rows, self.folder / "other.orc")


def struct(**fields: tuple[Schema, ConnectValue]) -> Struct:
    """Return a struct of values with their schemas."""
    builder = SchemaBuilder.struct()
    for name, (schema, _) in fields.items():
        builder = builder.field(name, schema)
    return Struct(builder.build(), {name: value for name, (_, value) in fields.items()})


FORMATS: Sequence[type[SinkTable]] = (DeltaSinkTable, IcebergSinkTable, ParquetSinkFiles, OrcSinkFiles)
