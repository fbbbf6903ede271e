"""SparkSink passes the suites that every sink passes which delivers exactly once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from copycat_connect.data import (
    INT64_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    SchemaBuilder,
    SinkBatch,
    SinkRecord,
    Struct,
)
from copycat_connect.plugin import CONNECTORS, PluginSpec, load_plugins
from copycat_testkit.conformance import ExactlyOnceSinkConformance
from copycat_testkit.conformance.exactly_once_sink import CALLS
from copycat_testkit.conformance.sink import PARTITION
from copycat_testkit.sampling import sampled
from deltalake import DeltaTable
from pyiceberg.catalog import load_catalog

ROW = SchemaBuilder.struct().field("number", INT64_SCHEMA).field("text", STRING_SCHEMA).build()


class TestSparkSink(ExactlyOnceSinkConformance):
    """Rows appended to a table of Delta Lake in a folder."""

    @pytest.fixture(autouse=True)
    def _use(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def spec(self) -> PluginSpec:
        """Return the connector."""
        return load_plugins().find("SparkSink", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        """Write to a folder."""
        place = {"store.url": self.folder.as_uri(), "prefix": "table"}
        return {"name": "conformance", "topics": "conformance", **place}

    def value(self, number: int) -> ConnectValue:
        """Return a struct."""
        return Struct(ROW, {"number": number, "text": "é😀"})

    def batch(self, numbers: range) -> SinkBatch:
        """Return records with these offsets, and with the schema of their values."""
        return SinkBatch.of(
            [SinkRecord(*PARTITION, number, value=self.value(number), value_schema=ROW) for number in numbers]
        )

    def written(self) -> Sequence[ConnectValue]:
        """Return the rows by their number: a table has no order."""
        table = str(self.folder / "table")
        rows = DeltaTable(table).to_pyarrow_table().to_pylist() if DeltaTable.is_deltatable(table) else []
        return [Struct(ROW, row) for row in sorted(rows, key=lambda row: int(row["number"]))]


class TestSparkSinkByKey(TestSparkSink):
    """Rows merged by key."""

    def config(self) -> Mapping[str, str]:
        """Write to a folder, by a field."""
        keys = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "number"}
        return {**super().config(), **keys}


class TestSparkSinkFiles(TestSparkSink):
    """Rows in files of Parquet without a table."""

    def config(self) -> Mapping[str, str]:
        """Write to a folder."""
        return {**super().config(), "format": "parquet"}

    def written(self) -> Sequence[ConnectValue]:
        """Return the rows by their number: files have no order."""
        files = [pq.read_table(each).to_pylist() for each in self.folder.glob("table/**/*.parquet")]
        rows = sorted(chain.from_iterable(files), key=lambda row: int(row["number"]))
        return [Struct(ROW, row) for row in rows]

    @pytest.mark.parametrize("last", sampled(range(CALLS), keep=3))
    def test_killed_between_any_two_calls_it_resumes_without_loss_or_repetition(self, last: int) -> None:
        """All changes of the store are tried by its commits' test; here most calls in the long run only."""
        super().test_killed_between_any_two_calls_it_resumes_without_loss_or_repetition(last)


class TestSparkSinkIceberg(TestSparkSink):
    """Rows appended to a table of Iceberg in a folder, whose catalog is a file."""

    def config(self) -> Mapping[str, str]:
        """Write to a folder, with a catalog beside it."""
        catalog = {f"iceberg.catalog.{name}": value for name, value in self._catalog().items()}
        return {**super().config(), **catalog, "format": "iceberg", "iceberg.table": "shop.rows"}

    def written(self) -> Sequence[ConnectValue]:
        """Return the rows by their number: a table has no order."""
        catalog = load_catalog("default", **self._catalog())
        if not catalog.table_exists("shop.rows"):
            return []
        rows = catalog.load_table("shop.rows").scan().to_arrow().to_pylist()
        return [Struct(ROW, row) for row in sorted(rows, key=lambda row: int(row["number"]))]

    def _catalog(self) -> dict[str, str]:
        return {"type": "sql", "uri": f"sqlite:///{self.folder}/catalog.db"}
