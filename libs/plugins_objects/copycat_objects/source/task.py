"""ObjectSource's task: reads its files one after the other, and looks for new ones in between."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

from copycat_connect.data import SourceBatch, SourceRecord, UnreadableRecord
from copycat_connect.errors import DataError, RetriableError
from copycat_connect.plugin import SourceTask

from copycat_objects.formats.csv_reader import CsvOptions
from copycat_objects.formats.opening import open_reader
from copycat_objects.formats.reader import Chunk, RecordPlace, RecordReader
from copycat_objects.source.choice import Found, StoreFileChoice, StoreListing
from copycat_objects.source.positions import (
    Offset,
    is_broken,
    is_committed,
    is_done,
    offset_at,
    partition_of,
    place_in,
)
from copycat_objects.source.settings import (
    FORMAT,
    PATTERN,
    TASK,
    TASKS,
    CleanupPolicy,
    ObjectSourceSettings,
)
from copycat_objects.stores.errors import FileMissingError, FileTakenError
from copycat_objects.stores.opening import open_store
from copycat_objects.stores.store import Store, StoredFile

_log = logging.getLogger(__name__)
_MOST_AT_ONCE = 100


class _Cleanup:
    """Moves or deletes files, none before the offset service says that their records are committed."""

    def __init__(self, store: Store, policy: CleanupPolicy, folder: str) -> None:
        """Do as the policy says: none, move (below the folder) or delete."""
        self._store = store
        self._policy = policy
        self._folder = folder
        self._waiting: dict[str, tuple[StoredFile, int]] = {}
        self._is_due = False

    def read(self, file: StoredFile, records: int) -> None:
        """Note a file that was read to its end; it counts once so many records are committed."""
        if self._policy is not CleanupPolicy.NONE:
            self._waiting[file.path] = (file, records)
            self._is_due = True

    def committed(self) -> None:
        """Note that something was committed."""
        self._is_due = bool(self._waiting)

    def run(self, offsets: Callable[[Sequence[dict[str, str]]], Sequence[Offset | None]]) -> None:
        """Clean up what is committed, some files at a time.

        Raises:
            ConnectError: The store's errors; what is left is tried again by the next call.
        """
        if not self._is_due:
            return
        self._is_due = False
        paths = list(self._waiting)[:_MOST_AT_ONCE]
        found = offsets([partition_of(self._store.name, path) for path in paths])
        for path, offset in zip(paths, found, strict=True):
            file, records = self._waiting[path]
            if not records or is_committed(file, records, offset):
                self._is_due = True
                self._clean(file)
                del self._waiting[path]

    def _clean(self, file: StoredFile) -> None:
        if self._policy is CleanupPolicy.DELETE:
            self._store.delete(file.path)
            return
        target = f"{self._folder}/{file.path}"
        try:
            try:
                self._store.rename(file.path, target)
            except FileTakenError:
                # A file of this name was read before: both are kept.
                self._store.rename(file.path, f"{target}.{file.modified_millis}")
        except FileMissingError:
            _log.info("%s was read and is gone already", file.path)


class _OpenObject:
    """Reads from a place on; remembers where it is, so that another can go on there."""

    def __init__(self, store: Store, found: Found, place: RecordPlace, csv: CsvOptions) -> None:
        """Open a file.

        Raises:
            FileMissingError: It is gone.
            ConnectError: The store's other errors.
        """
        self.found = found
        self.place = place
        """Where the next batch begins."""
        self._store = store
        self._partition = partition_of(store.name, found.file.path)
        self.is_read = False
        """True after the last record."""
        self.is_broken = False
        """True where something of it could not be read, nor divided into records."""
        self._reader: RecordReader | None = None
        self._failure: DataError | None = None
        try:
            self._reader = open_reader(store, found.file, found.picked.format, place, csv)
        except DataError as error:
            self._failure = error

    def read(self, limit: int) -> SourceBatch | list[SourceRecord] | None:
        """Return the next records; None where there are no more just now, or at the end.

        Raises:
            ConnectError: The store's errors.
        """
        if self._reader is None or self._failure is not None:
            return self._broken(self._failure)
        try:
            chunk = self._reader.read(limit)
        except DataError as error:
            return self._broken(error)
        self.place, self.is_read = chunk.after, chunk.is_last
        if not chunk.values:
            return None
        if chunk.unreadable:
            return list(self._records(chunk))
        return SourceBatch(
            self.found.picked.topic,
            chunk.values,
            value_schema=chunk.schema,
            source_partition=self._partition,
            source_offset=offset_at(self.found.file, chunk.after, done=chunk.is_last),
            utf8=chunk.utf8,
            offsets=lambda: self._offsets(chunk),
        )

    def close(self) -> None:
        """Let go of the file."""
        if self._reader is not None:
            self._reader.close()

    def _offsets(self, chunk: Chunk) -> list[dict[str, int | bool]]:
        found = [offset_at(self.found.file, place, done=False) for place in chunk.places()]
        return [*found[:-1], offset_at(self.found.file, chunk.after, done=chunk.is_last)]

    def _records(self, chunk: Chunk) -> Iterator[SourceRecord]:
        """Yield the records of a chunk of which some cannot be read."""
        for place, (value, offset) in enumerate(zip(chunk.values, self._offsets(chunk), strict=True)):
            topic, error = self.found.picked.topic, chunk.unreadable.get(place)
            if error is not None:
                yield UnreadableRecord(self._partition, offset, topic, value, self._named(error))
            else:
                yield SourceRecord(self._partition, offset, topic, value, value_schema=chunk.schema)

    def _broken(self, error: DataError | None) -> list[SourceRecord]:
        """Return what stands for the rest of the file."""
        assert error is not None  # there is a reader or a reason why not
        self.is_read = self.is_broken = True
        offset = offset_at(self.found.file, self.place, done=True, broken=True)
        advice = (
            f" Nothing behind that is read. Mend the file or remove it, leave it out by '{PATTERN}', or set "
            f"'{FORMAT}'"
        )
        found = self._named(error, advice)
        return [UnreadableRecord(self._partition, offset, self.found.picked.topic, None, found)]

    def _named(self, error: DataError, advice: str = "") -> DataError:
        what = f"{self.found.file.path} in {self._store.name} as {self.found.picked.format}"
        found = DataError(f"Cannot read {what}: {error.message}.{advice}")
        found.__cause__ = error
        return found


_LOOK_SECONDS = 0.5
_WAIT_SECONDS = 0.5
#: How many offsets are asked for at once.
_OFFSETS = 500


class ObjectSourceTask(SourceTask):
    """Keeps one file open; memory holds about a batch, and the paths of all files."""

    def __init__(self) -> None:
        self._store: Store | None = None
        self._open: _OpenObject | None = None
        self._new: deque[Found] = deque()
        self._queue: deque[tuple[Found, RecordPlace]] = deque()
        self._next_look = 0.0

    def start(self, config: Mapping[str, str]) -> None:
        """Start with the configuration; the store is asked by `poll`."""
        self._settings = settings = ObjectSourceSettings.parse(config)
        self._csv = CsvOptions(
            settings.csv_separator, settings.csv_quote, settings.csv_header, settings.encoding
        )
        store = self._store = open_store(settings.values_by_key(), settings.store_url)
        choice = StoreFileChoice(settings, int(config.get(TASK, 0)), int(config.get(TASKS, 1)))
        self._listing = StoreListing(store, choice, settings.min_age_millis)
        self._cleanup = _Cleanup(store, settings.cleanup_policy, settings.cleanup_folder)

    def poll(self) -> SourceBatch | list[SourceRecord] | None:
        """Return the next records of the file that is open, or of the next one; nothing after a short wait.

        Raises:
            RetriableError: The store is away; the next call goes on at the same record.
            ConnectError: The store refuses.
        """
        try:
            self._cleanup.run(self.context.offsets)
            if self._open is None:
                self._open_next()
            return self._read() if self._open is not None else None
        except RetriableError:
            self._give_back()
            raise

    def commit(self) -> None:
        """Let the next poll clean up."""
        self._cleanup.committed()

    def stop(self) -> None:
        """Close what is open."""
        if self._open is not None:
            self._open.close()
        if self._store is not None:
            self._store.close()

    def _read(self) -> SourceBatch | list[SourceRecord] | None:
        opened = self._open
        assert opened is not None  # the caller has seen to it
        try:
            batch = opened.read(self._settings.batch_size)
        except FileMissingError:
            self._gone(opened.found)
            self._close()
            return None
        if opened.is_read:
            if not opened.is_broken:
                self._cleanup.read(opened.found.file, opened.place.record)
            self._close()
        return batch

    def _open_next(self) -> None:
        """Do one step towards an open file: look for files, ask where to begin with them, or open one."""
        if not self._queue:
            if not self._new:
                self._look()
                return
            self._ask_for_offsets()
        if self._queue:
            found, place = self._queue[0]
            assert self._store is not None  # the task was started
            try:
                self._open = _OpenObject(self._store, found, place, self._csv)
            except FileMissingError:
                self._gone(found)
            self._queue.popleft()

    def _ask_for_offsets(self) -> None:
        """Look up where to begin with some of the new files; those that were read before are passed over."""
        assert self._store is not None  # the task was started
        asked = [self._new.popleft() for _ in range(min(_OFFSETS, len(self._new)))]
        name = self._store.name
        offsets = self.context.offsets([partition_of(name, found.file.path) for found in asked])
        for found, offset in zip(asked, offsets, strict=True):
            if is_broken(found.file, offset):
                continue
            if is_done(found.file, offset):
                self._cleanup.read(found.file, place_in(found.file, offset).record)
            else:
                self._queue.append((found, place_in(found.file, offset)))

    def _look(self) -> None:
        """Look for new files where it is time to, else wait for a moment."""
        wait = self._next_look - time.monotonic()
        if wait > 0:
            self.context.wait(min(wait, _WAIT_SECONDS))
            return
        new = self._listing.advance(_LOOK_SECONDS)
        if new is not None:
            missing = self._listing.missing
            self.context.waiting(missing and f"folder {missing}, which does not exist")
            self._new.extend(new)
            self._next_look = time.monotonic() + self._settings.poll_seconds

    def _give_back(self) -> None:
        """Close the file, and go on with it where it was."""
        if self._open is not None:
            self._queue.appendleft((self._open.found, self._open.place))
            self._close()

    def _close(self) -> None:
        if self._open is not None:
            self._open.close()
        self._open = None

    def _gone(self, found: Found) -> None:
        _log.warning("%s is gone before it was read to its end", found.file.path)
