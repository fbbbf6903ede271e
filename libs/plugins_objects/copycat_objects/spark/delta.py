"""A Delta table as a source follows it: the files of one version, and those that each later version adds.

After the Delta Transaction Log Protocol (PROTOCOL.md of delta-io/delta), for tables whose files are
plain Parquet: commits of JSON lines, and checkpoints of the first kind. Tables with deletion vectors in use,
mapped columns, or other features that change what a file means are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

import pyarrow.parquet as pq
from copycat_connect.errors import ConnectError

from copycat_objects.source.choice import Picked, Rank
from copycat_objects.spark.databases import quoted
from copycat_objects.spark.followed_tables import FileColumns, FollowedTable, TableFile, constant
from copycat_objects.stores.ranged_file import RangedFile
from copycat_objects.stores.store import Store, StoredFile, checked

_LOG: Final = "_delta_log"
_COMMIT: Final = re.compile(r"(\d{20})\.json")
_CHECKPOINT: Final = re.compile(r"(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10}))?\.parquet")
#: What of a checkpoint is read; statistics of columns are most of it.
_CHECKPOINT_COLUMNS: Final = (
    "add.path",
    "add.size",
    "add.modificationTime",
    "add.partitionValues",
    "add.deletionVector",
    "metaData.schemaString",
    "metaData.partitionColumns",
    "metaData.configuration",
    "protocol",
)
#: Features of tables whose files are read as they are, as long as no file says otherwise.
_READABLE: Final = frozenset(
    {"columnMapping", "deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}
)
_MAPPING: Final = "delta.columnMapping.mode"
_NO_COLUMNS: Final = "has no columns in its log"


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns of a table."""

    schema: str
    """JSON of Spark's StructType."""
    partitions: tuple[str, ...]
    """Columns whose values the log has, not the files."""


class DeltaTable(FollowedTable):
    """Reads the log of a table in a folder of a store; see the port."""

    def __init__(self, store: Store, folder: str, topic: str, *, skip_changes: bool) -> None:
        """Read nothing yet; with `skip_changes` versions that change or delete rows are left out."""
        self.name = "/".join(filter(None, (store.name.rstrip("/"), folder)))
        self._store, self._folder, self._topic = store, folder, topic
        self._skip_changes = skip_changes
        self.absent = "which does not exist"
        self._columns: TableColumns | None = None
        self._version = -1

    def newest(self) -> int | None:
        """Return the newest version that the log has; see the port."""
        commits, checkpoints = self._log()
        return max((*commits, *checkpoints), default=None)

    def whole(self) -> tuple[str, list[TableFile]] | None:
        """Go through the log up to the newest version; see the port."""
        version = self.newest()
        if version is None:
            return None
        files = self.begin(version)
        if self._columns is None:
            raise self._refused(_NO_COLUMNS)
        return self._columns.schema, files

    def begin(self, version: int) -> list[TableFile]:
        """Go through the log up to a version; see the port."""
        files: dict[str, Mapping[str, Any]] = {}
        for action in self._actions_up_to(version):
            if (added := action.get("add")) is not None:
                files[added["path"]] = added
            elif (removed := action.get("remove")) is not None:
                files.pop(removed["path"], None)
            else:
                self._note(action)
        self._version = version
        return [self._found(added) for added in files.values()]

    def go_on(self, version: int) -> None:
        """Go through the log for the columns that there are; see the port."""
        for action in self._actions_up_to(self.newest() or 0):
            self._note(action)
        self._version = version

    def follow(self) -> tuple[int, list[TableFile]] | None:
        """Read the next commit; see the port."""
        version = self._version + 1
        path = self._path(f"{version:020}.json")
        if self._store.find(path) is None:
            if (self.newest() or 0) > version:
                raise self._lost(version)
            return None
        added, is_change, operation = list[Mapping[str, Any]](), False, ""
        for action in self._commit(path):
            is_change |= bool(action.get("remove", {}).get("dataChange"))
            operation = action.get("commitInfo", {}).get("operation", operation)
            if action.get("add", {}).get("dataChange"):
                added.append(action["add"])
            self._note(action)
        if is_change and not self._skip_changes:
            raise ConnectError(
                f"Version {version} of {self.name} changes or deletes rows ({operation or 'of no name'}), "
                "which records cannot follow: set delta.changes=skip to leave such versions out, or delete "
                "the offsets to read the table anew"
            )
        self._version = version
        return version, [] if is_change else [self._found(each) for each in added]

    def columns_of(self, file: TableFile) -> FileColumns:
        """Return those of the log: the names of columns are those in the files; see the port."""
        return table_columns(file.columns, file.values)

    def close(self) -> None:
        """Do nothing: the store has the log, too."""

    def _path(self, name: str) -> str:
        return "/".join(filter(None, (self._folder, _LOG, name)))

    def _log(self) -> tuple[set[int], dict[int, list[StoredFile]]]:
        """Return the versions that have a commit, and the complete checkpoints."""
        commits, parts, counts = set[int](), dict[int, list[StoredFile]](), dict[int, int]()
        for file in self._store.list(self._path("").rstrip("/")):
            name = file.path.rpartition("/")[2]
            if (commit := _COMMIT.fullmatch(name)) is not None:
                commits.add(int(commit[1]))
            elif (checkpoint := _CHECKPOINT.fullmatch(name)) is not None:
                version = int(checkpoint[1])
                parts.setdefault(version, []).append(file)
                counts[version] = int(checkpoint[3] or 1)
        return commits, {each: files for each, files in parts.items() if len(files) >= counts[each]}

    def _actions_up_to(self, version: int) -> Iterator[Mapping[str, Any]]:
        """Yield the actions that make a version, the newest checkpoint before it first."""
        commits, checkpoints = self._log()
        start = max((each for each in checkpoints if each <= version), default=-1)
        missing = next((each for each in range(start + 1, version + 1) if each not in commits), None)
        if missing is not None:
            raise self._lost(missing)
        for file in checkpoints.get(start, []):
            yield from self._checkpoint(file)
        for each in range(start + 1, version + 1):
            yield from self._commit(self._path(f"{each:020}.json"))

    def _commit(self, path: str) -> Iterator[Mapping[str, Any]]:
        with self._store.open(path) as lines:
            for line in lines.read().splitlines():
                if line.strip():
                    yield json.loads(line)

    def _checkpoint(self, file: StoredFile) -> Iterator[Mapping[str, Any]]:
        with pq.ParquetFile(RangedFile(self._store, file.path, file.size)) as parquet:
            for batch in parquet.iter_batches(columns=list(_CHECKPOINT_COLUMNS)):
                for row in batch.to_pylist(maps_as_pydicts="strict"):
                    yield {name: value for name, value in row.items() if value is not None}

    def _note(self, action: Mapping[str, Any]) -> None:
        """Note what an action says of the table as a whole.

        Raises:
            ConnectError: Its files cannot be read as plain Parquet.
        """
        if (protocol := action.get("protocol")) is not None:
            unknown = {*(protocol.get("readerFeatures") or ())} - _READABLE
            if unknown:
                names = ", ".join(sorted(unknown))
                raise self._refused(f"has features that change what its files mean: {names}")
        if (metadata := action.get("metaData")) is not None:
            if (metadata.get("configuration") or {}).get(_MAPPING, "none") != "none":
                raise self._refused(f"maps its columns to others of its files ({_MAPPING})")
            self._columns = TableColumns(metadata["schemaString"], tuple(metadata["partitionColumns"]))

    def _found(self, added: Mapping[str, Any]) -> TableFile:
        if added.get("deletionVector"):
            raise self._refused("has deletion vectors, so that files have rows that are deleted")
        path = unquote(added["path"])
        if path.startswith("/") or "://" in path:
            raise self._refused(f"has files outside of its folder, such as {path}")
        if self._columns is None:
            raise self._refused(_NO_COLUMNS)
        place = checked("/".join(filter(None, (self._folder, path))))
        values = added.get("partitionValues") or {}
        return TableFile(
            StoredFile(place, added["size"], added["modificationTime"]),
            Picked(Rank("", 0, 0, place), "parquet", self._topic),
            self._columns,
            tuple(values.get(name) or None for name in self._columns.partitions),
        )

    def _lost(self, version: int) -> ConnectError:
        return ConnectError(
            f"The log of {self.name} does not have version {version} any more, so that what it changed is "
            "not known: delete the offsets to read the table anew, and keep its log longer "
            "(delta.logRetentionDuration)"
        )

    def _refused(self, why: str) -> ConnectError:
        return ConnectError(f"The table {self.name} {why}, which is not supported: read it by another engine")


@lru_cache(maxsize=1000)
def table_columns(columns: TableColumns, values: tuple[str | None, ...]) -> FileColumns:
    """Return what Spark reads a file of a table with."""
    schema = json.loads(columns.schema)
    given = dict(zip(columns.partitions, values, strict=True))
    own = [field for field in schema["fields"] if field["name"] not in given]
    sql = []
    for field in schema["fields"]:
        name = quoted(field["name"])
        if field["name"] in given:
            sql.append(f"{constant(given[field['name']], field['type'])} AS {name}")
        else:
            sql.append(name)
    return json.dumps({**schema, "fields": own}), tuple(sql)
