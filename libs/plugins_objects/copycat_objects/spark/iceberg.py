"""An Iceberg table as a source follows it: the files of one snapshot, and those that each later one adds.

pyiceberg reads the catalog, the table's metadata and the manifests. What files hold is not looked at before
Spark is to read them. Tables with delete files, or with files that are no Parquet, are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from copycat_connect.errors import ConnectError, DataError
from pyiceberg.manifest import (
    DataFile,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
)
from pyiceberg.table import Table, TableProperties
from pyiceberg.table.snapshots import Operation, Snapshot
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IcebergType

from copycat_objects.lakehouse.catalog import CatalogTable, failures
from copycat_objects.lakehouse.store_files import path_in
from copycat_objects.source.choice import Picked, Rank
from copycat_objects.spark.followed_tables import FileColumns, FollowedTable, TableFile
from copycat_objects.spark.iceberg_columns import IcebergColumns, spark_columns, table_schema, text_of
from copycat_objects.stores.ranged_file import RangedFile
from copycat_objects.stores.store import Store, StoredFile

_ANEW: Final = "delete the offsets to read the table anew"
#: Files whose columns are kept in mind: some for each partition of Spark that may read at once.
_FILES_KNOWN: Final = 256


class IcebergTable(FollowedTable):
    """Reads the snapshots of a table whose files are in a store; see the port."""

    def __init__(
        self, place: CatalogTable, store: Store, folder: str, topic: str, *, skip_changes: bool
    ) -> None:
        """Read nothing yet.

        Args:
            place: The table in its catalog.
            store: Where all its files are.
            folder: The folder there below which they are.
            topic: Where records go.
            skip_changes: Whether snapshots that change or delete rows are left out.
        """
        self.name = place.name
        self.absent = ""
        self._place, self._store, self._folder, self._topic = place, store, folder, topic
        self._skip_changes = skip_changes
        self._at = -1
        """The snapshot up to which files were returned."""
        self._ahead: list[Snapshot] = []
        """Those behind it, the next one first."""
        self._table: Table | None = None
        self._known: dict[
            tuple[int, int, str | None], tuple[IcebergColumns, Sequence[tuple[int, IcebergType]]]
        ] = {}
        # A file that is not read with those before it is looked at for them, and again with those behind it.
        self._looked_at = lru_cache(_FILES_KNOWN)(self._look_at)

    def newest(self) -> str | None:
        """Return the id of the newest snapshot; see the port."""
        table = self._table = self._place.load()
        self.absent = "which does not exist" if table is None else "which has no snapshot yet"
        snapshot = None if table is None else table.current_snapshot()
        return None if snapshot is None else str(snapshot.snapshot_id)

    def whole(self) -> tuple[str, list[TableFile]] | None:
        """Read the manifests of the newest snapshot, if there is one; see the port."""
        self.newest()
        table = self._table
        if table is None:
            return None
        schema, snapshot = table.schema(), table.current_snapshot()
        try:
            columns = table_schema(schema)
        except ConnectError as error:
            raise ConnectError(f"The table {self.name} cannot be read: {error}") from error
        return columns, [] if snapshot is None else self._files(table, snapshot, schema.schema_id)

    def begin(self, version: str) -> list[TableFile]:
        """Read the manifests of a snapshot; see the port."""
        self._table = None
        table = self._loaded()
        snapshot = table.snapshot_by_id(int(version))
        if snapshot is None:
            raise ConnectError(
                f"The table {self.name} does not have the snapshot {version} any more: {_ANEW}"
            )
        files = self._files(table, snapshot, _schema_of(table, snapshot))
        self._at = snapshot.snapshot_id
        return files

    def go_on(self, version: str) -> None:
        """Note the snapshot; see the port."""
        self._at = int(version)

    def follow(self) -> tuple[str, list[TableFile]] | None:
        """Read what the next snapshot has changed; see the port."""
        if not self._ahead:
            self._ahead = self._behind()
        if not self._ahead:
            return None
        snapshot = self._ahead[0]
        files = self._added(snapshot)
        self._at = snapshot.snapshot_id
        del self._ahead[0]
        return str(self._at), files

    def columns_of(self, file: TableFile) -> FileColumns:
        """Look which columns a file has; see the port."""
        return self._looked_at(file)

    def _look_at(self, file: TableFile) -> FileColumns:
        stored = file.file
        try:
            with pq.ParquetFile(RangedFile(self._store, stored.path, stored.size)) as parquet:
                columns = parquet.schema_arrow
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{stored.path} of {self.name} is no Parquet file, or broken: {error}") from error
        try:
            return spark_columns(file.columns, file.values, columns)
        except ConnectError as error:
            raise ConnectError(f"{stored.path} of {self.name} cannot be read: {error}") from error

    def close(self) -> None:
        """Let go of the catalog."""
        self._place.close()

    def _loaded(self) -> Table:
        """Return the metadata that was read last, or what the catalog has now.

        Raises:
            ConnectError: There is no table.
        """
        if self._table is None:
            self._table = self._place.load()
        if self._table is None:
            raise ConnectError(f"The table {self.name} does not exist any more")
        return self._table

    def _behind(self) -> list[Snapshot]:
        """Return the snapshots that were made upon the one that was read, oldest first.

        Raises:
            ConnectError: It is not known which these are.
        """
        self._table = None
        table = self._loaded()
        snapshot, found = table.current_snapshot(), list[Snapshot]()
        while snapshot is not None and snapshot.snapshot_id != self._at:
            found.append(snapshot)
            parent = snapshot.parent_snapshot_id
            if parent == self._at:
                break
            snapshot = None if parent is None else table.snapshot_by_id(parent)
        if snapshot is None:
            raise ConnectError(
                f"The table {self.name} does not say any more which snapshots follow {self._at}: they were "
                f"expired, or it was rolled back or made anew; {_ANEW}, and have snapshots expire later"
            )
        return found[::-1]

    def _files(self, table: Table, snapshot: Snapshot, schema_id: int) -> list[TableFile]:
        """Return all files of a snapshot, to be read with the columns of a schema, oldest first.

        Raises:
            ConnectError: They cannot be read.
        """
        entries = []
        for manifest, entry in self._entries(table, snapshot):
            if manifest.content is ManifestContent.DELETES:
                raise self._refused("has delete files, so that files have rows that are deleted")
            entries.append(entry)
        entries.sort(key=lambda entry: (entry.sequence_number or 0, entry.data_file.file_path))
        return [self._found(table, schema_id, entry.data_file) for entry in entries]

    def _added(self, snapshot: Snapshot) -> list[TableFile]:
        """Return the files that a snapshot adds.

        Raises:
            ConnectError: It changes rows, and such are not left out.
        """
        table, added, is_change = self._loaded(), list[DataFile](), False
        operation = None if snapshot.summary is None else snapshot.summary.operation
        if operation is Operation.REPLACE:  # the same rows in other files
            return []
        for manifest, entry in self._entries(table, snapshot, only_own=True):
            if manifest.content is ManifestContent.DELETES or entry.status is ManifestEntryStatus.DELETED:
                is_change = True
            elif entry.status is ManifestEntryStatus.ADDED and entry.snapshot_id == snapshot.snapshot_id:
                added.append(entry.data_file)
        if is_change and not self._skip_changes:
            name = "of no name" if operation is None else operation.value
            raise ConnectError(
                f"The snapshot {snapshot.snapshot_id} of {self.name} changes or deletes rows ({name}), which "
                f"records cannot follow: set iceberg.changes=skip to leave such snapshots out, or {_ANEW}"
            )
        schema_id = _schema_of(table, snapshot)
        return [] if is_change else [self._found(table, schema_id, file) for file in added]

    def _entries(
        self, table: Table, snapshot: Snapshot, *, only_own: bool = False
    ) -> Iterator[tuple[ManifestFile, ManifestEntry]]:
        """Yield the files of a snapshot with their manifests, or all that the snapshot itself wrote there."""
        with failures(f"The snapshot {snapshot.snapshot_id} of {self.name} cannot be read"):
            for manifest in snapshot.manifests(table.io):
                if only_own and manifest.added_snapshot_id != snapshot.snapshot_id:
                    continue
                for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=not only_own):
                    yield manifest, entry

    def _found(self, table: Table, schema_id: int, file: DataFile) -> TableFile:
        """Return a file as a unit has it.

        Raises:
            ConnectError: Spark cannot read it from the store.
        """
        if file.file_format is not FileFormat.PARQUET:
            raise self._refused(f"has files of the format {file.file_format}")
        if file.key_metadata is not None:
            raise self._refused("has encrypted files")
        columns, divided = self._columns(table, schema_id, file.spec_id)
        path = path_in(self._store, self._folder, file.file_path)
        return TableFile(
            StoredFile(path, file.file_size_in_bytes, 0),
            Picked(Rank("", 0, 0, path), "parquet", self._topic),
            columns,
            tuple(text_of(type_, file.partition[place]) for place, type_ in divided),
        )

    def _columns(
        self, table: Table, schema_id: int, spec_id: int
    ) -> tuple[IcebergColumns, Sequence[tuple[int, IcebergType]]]:
        """Return the columns of a schema, and the places of values of theirs in partitions, with types."""
        names = table.properties.get(TableProperties.DEFAULT_NAME_MAPPING)
        key = (schema_id, spec_id, names)
        if key not in self._known:
            schema = table.schemas()[schema_id]
            types = {field.field_id: field.field_type for field in schema.fields}
            divided = [
                (place, each.source_id)
                for place, each in enumerate(table.specs()[spec_id].fields)
                if isinstance(each.transform, IdentityTransform) and each.source_id in types
            ]
            columns = IcebergColumns(schema.model_dump_json(), names, tuple(each for _, each in divided))
            self._known[key] = columns, [(place, types[each]) for place, each in divided]
        return self._known[key]

    def _refused(self, why: str) -> ConnectError:
        return ConnectError(
            f"The table {self.name} {why}, which is not supported: have an engine of queries rewrite its "
            "data files (rewrite_data_files), or read it by such an engine"
        )


def _schema_of(table: Table, snapshot: Snapshot) -> int:
    """Return the number of the columns that a snapshot was written with."""
    return table.schema().schema_id if snapshot.schema_id is None else snapshot.schema_id
