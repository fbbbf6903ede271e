"""Frames of tables of a lake: what Spark reads of their files, for whoever follows or joins a table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from copycat_connect.errors import RetriableError

from copycat_objects.lakehouse.settings import CatalogSettings
from copycat_objects.spark.delta import DeltaTable
from copycat_objects.spark.followed_tables import FileColumns, FollowedTable, TableFile
from copycat_objects.spark.placed_rows import literal_path
from copycat_objects.stores.store import Store


def open_table(
    store: Store, folder: str, topic: str, catalog: CatalogSettings | None, *, skip_changes: bool
) -> FollowedTable:
    """Return a table; nothing is called yet.

    Args:
        store: Where its files are.
        folder: The folder there: of a Delta table its own, of one of Iceberg one above all of its files.
        topic: Where records go.
        catalog: What names the table of Iceberg; None of one of Delta Lake.
        skip_changes: Whether versions that change or delete rows are left out.
    """
    if catalog is None:
        return DeltaTable(store, folder, topic, skip_changes=skip_changes)
    from copycat_objects.lakehouse.catalog import CatalogTable  # noqa: PLC0415 - needs pyiceberg
    from copycat_objects.lakehouse.store_files import StoreFiles  # noqa: PLC0415 - likewise
    from copycat_objects.spark.iceberg import IcebergTable  # noqa: PLC0415 - likewise

    place = CatalogTable(catalog.table, {**StoreFiles.properties_of(store), **catalog.properties})
    return IcebergTable(place, store, folder, topic, skip_changes=skip_changes)


def files_frame(
    session: Any,  # noqa: ANN401 - PySpark's
    store: Store,
    files: Sequence[TableFile],
    columns: FileColumns,
    *more: str,
    options: Mapping[str, str],
) -> Any:  # noqa: ANN401 - PySpark's
    """Have Spark read files that have the same columns.

    Args:
        session: The session.
        store: Where the files are.
        files: The files.
        columns: What the table says of each of them (`columns_of`).
        more: SQL of columns that are added to those of the table.
        options: Of Spark's reader.
    """
    own, sql = columns
    root = store.name.rstrip("/")
    addresses = [literal_path(f"{root}/{each.file.path}") for each in files]
    rows = session.read.options(**options).schema(_schema(session, own)).parquet(*addresses)
    return rows.selectExpr(*sql, *more)


def table_frame(session: Any, store: Store, table: FollowedTable, options: Mapping[str, str]) -> Any:  # noqa: ANN401 - PySpark's
    """Have Spark read all rows that a table has now.

    Raises:
        RetriableError: There is no table yet, or it cannot be reached now.
        ConnectError: The table cannot be read.
    """
    found = table.whole()
    if found is None:
        raise RetriableError(f"There is no table {table.name} yet")
    columns, files = found
    alike: dict[FileColumns, list[TableFile]] = {}
    for file in files:
        alike.setdefault(table.columns_of(file), []).append(file)
    rows = session.createDataFrame([], _schema(session, columns))
    for each, some in alike.items():
        rows = rows.union(files_frame(session, store, some, each, options=options))
    return rows


def _schema(session: Any, text: str) -> Any:  # noqa: ANN401 - PySpark's
    """Return what Spark makes of the JSON of columns."""
    return type(session.range(0).schema).fromJson(json.loads(text))
