"""Folders of files without a table: files appear once an entry of a commit log has them, with positions.

Whoever lists the folder reads it: `country=DE/part-<number>.parquet`, as Hive names folders. The log and the
files that no entry has yet are below `_copycat`, which readers leave out, as all that begins with `_`. An
entry also has what a table would know: the columns, by which of them files are divided, and their format.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

import pyarrow as pa
from copycat_connect.data import TopicPartition
from copycat_connect.errors import ConnectError

from copycat_objects.commit_log import Commit, CommitLog, FencedError, LogFolders
from copycat_objects.names import OWN_FOLDER
from copycat_objects.spark_sink.settings import FORMAT, ORC
from copycat_objects.spark_sink.table_commits import (
    MAX_RETRIES,
    SinkColumns,
    TableCommits,
    fenced,
    position_key,
)
from copycat_objects.spark_sink.table_files import WrittenFile
from copycat_objects.spark_sink.table_rows import ColumnTypes, merged
from copycat_objects.stores.store import Store


@dataclass(frozen=True, slots=True)
class _Progress:
    """What an entry says."""

    format: str
    """That of the files."""
    claim: int = 0
    """The number of the claim whose folder partitions of Spark write to."""
    positions: Mapping[str, int] = field(default_factory=dict)
    """Offsets of the first records that are in no file, by `topic-partition`."""
    columns: pa.Schema = field(default_factory=lambda: pa.schema([]))
    """All that files have had; none before there are files."""
    divided_by: Sequence[str] = ()
    """Columns by whose contents the files are divided."""

    def encode(self) -> dict[str, Any]:
        """Return it as JSON has it; the columns are Arrow's, in its own form."""
        return {
            "format": self.format,
            "claim": self.claim,
            "positions": self.positions,
            "columns": b64encode(self.columns.serialize()).decode(),
            "divided_by": list(self.divided_by),
        }

    @classmethod
    def of(cls, entry: Commit[dict[str, Any]]) -> _Progress:
        """Read an entry.

        Raises:
            ConnectError: It is malformed.
        """
        try:
            found = entry.position
            columns = pa.ipc.read_schema(pa.py_buffer(b64decode(found["columns"], validate=True)))
            positions = {str(each): int(offset) for each, offset in found["positions"].items()}
            divided_by = [str(name) for name in found["divided_by"]]
            return cls(str(found["format"]), int(found["claim"]), positions, columns, divided_by)
        except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
            raise ConnectError(
                f"Entry {entry.number} of the commit log in {OWN_FOLDER} is malformed: somebody else changed "
                "it. Delete the log to go on where the consumer group is"
            ) from error


class FileCommits(TableCommits):
    """Commits of files to a folder; see the port."""

    def __init__(
        self, store: Store, folder: str, format: str, connector: str, partition_by: Sequence[str]
    ) -> None:
        """Choose a folder of a store, the connector's name, and how the first files are divided."""
        self._store, self._folder, self._format = store, folder, format
        self._partition_by = list(partition_by)
        own = _joined(folder, OWN_FOLDER, quote(connector, ""))
        self._log: CommitLog[dict[str, Any]] = CommitLog(
            store, LogFolders(f"{own}.log", f"{own}.staged", "'prefix'"), connector
        )
        self._progress = _Progress(format)

    def columns(self) -> SinkColumns:
        """Return what the newest entry says; see the port."""
        progress = self._read(self._log.read())
        types = {each.name: each.type for each in progress.columns}
        kept = _kept_in_orc if self._format == ORC else _kept_in_parquet
        staged = self._log.claim_of(progress.claim).folder
        return SinkColumns(
            ColumnTypes(types, kept),
            progress.divided_by if types else self._partition_by,
            in_files=False,
            staged_in=staged.removeprefix(f"{self._folder}/") if self._folder else staged,
        )

    def claim(self) -> None:
        """End what the last commit began and append an entry, also in a new folder; see the port."""
        for _ in range(MAX_RETRIES):
            found = self._log.recover()
            progress = self._read(found)
            with suppress(FencedError):
                self._claim(found, progress)
                return
        raise fenced(self._address)

    def positions(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """Return what the entry has; see the port."""
        known = self._progress.positions
        return {each: known[position_key(each)] for each in partitions if position_key(each) in known}

    def add(self, files: Sequence[WrittenFile], positions: Mapping[TopicPartition, int]) -> None:
        """Append an entry, then have files appear in their folders; see the port."""
        progress = self._progress
        moved = {position_key(each): offset for each, offset in positions.items()}
        progress = replace(progress, positions={**progress.positions, **moved})
        if files:
            if not progress.columns.names:
                progress = replace(progress, divided_by=self._partition_by)
            columns = merged([progress.columns, *(file.schema for file in files)])
            progress = replace(progress, columns=columns)
        places = [
            (_joined(self._folder, file.staged or file.path), _joined(self._folder, file.path))
            for file in files
        ]
        try:
            self._log.commit(progress.encode(), places)
        except FencedError as error:
            raise fenced(self._address) from error
        self._progress = progress

    def change(self, offsets: Mapping[TopicPartition, int | None]) -> None:
        """Append an entry with other positions; see the port."""
        found = self._log.recover(lost_is_accepted=True)
        if found is None:
            return
        progress = self._read(found)
        left = dict(progress.positions) if offsets else {}
        for each, offset in offsets.items():
            left.pop(position_key(each), None)
            if offset is not None:
                left[position_key(each)] = offset
        self._claim(found, replace(progress, positions=left))

    def close(self) -> None:
        """Do nothing: the store is its owner's."""

    def _claim(self, found: Commit[dict[str, Any]] | None, progress: _Progress) -> None:
        progress = replace(progress, claim=self._log.claim_after(found).number)
        self._log.claim(found, progress.encode())
        self._progress = progress

    def _read(self, found: Commit[dict[str, Any]] | None) -> _Progress:
        """Return what an entry says.

        Raises:
            ConnectError: It is malformed, or the files there have another format.
        """
        if found is None:
            return _Progress(self._format)
        progress = _Progress.of(found)
        if not progress.columns.names:
            return replace(progress, format=self._format)
        if progress.format != self._format:
            raise ConnectError(
                f"The folder {self._address} has files of {progress.format}, which this connector wrote, and "
                f"{FORMAT} is {self._format} now: set it back, or name another folder in prefix"
            )
        return progress

    @property
    def _address(self) -> str:
        return _joined(self._store.name, self._folder)


def _joined(*names: str) -> str:
    return "/".join(filter(None, names))


def _kept_in_parquet(type_: pa.DataType) -> pa.DataType:
    """Return the type of a column: times of day have microseconds, since Spark reads no others."""
    return pa.time64("us") if pa.types.is_time32(type_) else type_


def _kept_in_orc(type_: pa.DataType) -> pa.DataType:
    """Return the type of a column: times of day have no type of their own."""
    return pa.int32() if pa.types.is_time32(type_) else type_
