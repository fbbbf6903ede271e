"""A table of Iceberg that pyiceberg writes, whose catalog is in a file, and who reads it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    LongType,
    NestedField,
    StringType,
)

from tests.unit.plugins.objects.followed_source import FollowedSource, ids_in

NAME = "shop.orders"


class Lake:
    """A table of a catalog in a file, and who reads it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / "lake/orders"

    @property
    def uri(self) -> str:
        """The address of the catalog."""
        return f"sqlite:///{self.root}/catalog.db"

    @property
    def config(self) -> dict[str, str]:
        """Of whoever reads it."""
        table = {"iceberg.table": NAME, "iceberg.catalog.uri": self.uri}
        return {"topic": "t", "format": "iceberg", "store.url": self.root.as_uri(), **table}

    def catalog(self) -> Catalog:
        """Connect anew."""
        return load_catalog("default", type="sql", uri=self.uri)

    def make(self, columns: Schema, *divided: PartitionField, **properties: str) -> Table:
        """Make the table."""
        catalog = self.catalog()
        catalog.create_namespace_if_not_exists("shop")
        spec = PartitionSpec(*divided)
        place = f"file://{self.folder}"
        return catalog.create_table(NAME, columns, location=place, partition_spec=spec, properties=properties)

    def table(self) -> Table:
        """Return the table as it is now."""
        return self.catalog().load_table(NAME)

    def source(self, **config: str) -> FollowedSource:
        """Begin a task."""
        return FollowedSource(self.root, {**self.config, **config})

    def ids(self, units: Sequence[Any]) -> list[int]:
        """The ids in the files of units."""
        return ids_in(self.root, units)

    def scanned(self) -> list[int]:
        """The ids that pyiceberg reads."""
        found: list[int] = self.table().scan().to_arrow()["id"].to_pylist()
        return sorted(found)

    def newest(self) -> str:
        """The id of the newest snapshot."""
        snapshot = self.table().current_snapshot()
        assert snapshot is not None
        return str(snapshot.snapshot_id)


COLUMNS = Schema(
    NestedField(1, "id", LongType(), required=False),
    NestedField(2, "kind", StringType(), required=False),
)
BY_KIND = PartitionField(2, 1000, IdentityTransform(), "by")


def rows(first: int, count: int) -> pa.Table:
    ids = range(first, first + count)
    kinds = pa.array([("a b", "ü/=%", None)[each % 3] for each in ids], pa.string())
    return pa.table({"id": [*ids], "kind": kinds})
