"""Tables in HDFS, of Delta Lake and of Iceberg, that Spark reads there."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from copycat_executor.spark.session import Spark, start_driver
from copycat_objects.lakehouse.store_files import StoreFiles, path_in
from copycat_objects.stores.store import Store
from copycat_testkit.hdfs import Hdfs
from copycat_testkit.system import SHORT_LIVED_DRIVERS
from deltalake import write_deltalake
from pyiceberg.catalog import load_catalog
from pyiceberg.io import InputFile, OutputFile, OutputStream

from tests.integration.stores.sinks import place_in_hdfs, store_at
from tests.unit.plugins.objects.followed_source import FollowedSource

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]
ROWS = pa.table({"id": [1, 2, 3], "kind": ["a b", "a b", "ü/=%"]})


@pytest.fixture(scope="module")
def spark() -> Iterator[Spark]:
    running = start_driver(SHORT_LIVED_DRIVERS)
    yield running
    running.stop()


class WritableFiles(StoreFiles):
    """Files that are written, too, as engines do that have Hadoop's libraries."""

    def new_output(self, location: str) -> OutputFile:
        return _NewFile(self, location)


class _NewFile(OutputFile):
    def __init__(self, files: WritableFiles, location: str) -> None:
        super().__init__(location)
        self._files = files

    def __len__(self) -> int:
        return len(self.to_input_file())

    def exists(self) -> bool:
        return self.to_input_file().exists()

    def to_input_file(self) -> InputFile:
        return self._files.new_input(self.location)

    def create(self, overwrite: bool = False) -> OutputStream:
        store: Store = self._files.properties["copycat.store"]
        return cast("OutputStream", _Content(store, path_in(store, "", self.location), replace=overwrite))


class _Content(io.BytesIO):
    """Is written when it is closed."""

    def __init__(self, store: Store, path: str, *, replace: bool) -> None:
        super().__init__()
        self._begin: Callable[[], Any] = lambda: store.create(path, replace=replace)

    def close(self) -> None:
        if not self.closed:
            file = self._begin()
            file.write(self.getvalue())
            file.close()
        super().close()


def iceberg(store: Store, folder: Path) -> dict[str, str]:
    """Make a table; returns what a source is to know of it."""
    uri = f"sqlite:///{folder}/catalog.db"
    properties: Mapping[str, Any] = {**WritableFiles.properties_of(store), "type": "sql", "uri": uri}
    catalog = load_catalog("default", **properties)
    catalog.create_namespace("shop")
    catalog.create_table("shop.t", ROWS.schema, location=f"{store.name}/t").append(ROWS)
    return {"format": "iceberg", "iceberg.table": "shop.t", "iceberg.catalog.uri": uri}


def delta(store: Store, folder: Path) -> dict[str, str]:
    """Make a table, which names its files by their paths in its folder."""
    write_deltalake(folder / "t", ROWS, partition_by=["kind"])
    for file in (folder / "t").rglob("*"):
        if file.is_file():
            new = store.create(str(file.relative_to(folder)))
            new.write(file.read_bytes())
            new.close()
    return {"format": "delta", "prefix": "t"}


@pytest.mark.parametrize("make", [delta, iceberg])
def test_a_table_in_hdfs_is_read(
    hdfs: Hdfs, spark: Spark, tmp_path: Path, make: Callable[[Store, Path], dict[str, str]]
) -> None:
    place = place_in_hdfs(hdfs)
    source = FollowedSource(tmp_path, {**place, **make(store_at(place), tmp_path)})
    units = [unit for unit in source.plan() if not unit.is_mark]
    found = []
    while units:
        rows, count = source.task.frame(spark.session, units)
        found += [(row["id"], row[1]) for row in rows.collect()]
        units = units[count:]
    assert sorted(found) == [(1, "a b"), (2, "a b"), (3, "ü/=%")]
