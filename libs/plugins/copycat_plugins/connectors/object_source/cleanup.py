"""What becomes of files whose records are all committed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from copycat_plugins.connectors.object_source import spec
from copycat_plugins.connectors.object_source.positions import Offset, is_committed, partition_of
from copycat_plugins.connectors.stores.errors import FileMissingError, FileTakenError
from copycat_plugins.connectors.stores.store import Store, StoredFile

_log = logging.getLogger(__name__)
_MOST_AT_ONCE = 100


class Cleanup:
    """Moves or deletes files, none before the offset service says that their records are committed."""

    def __init__(self, store: Store, policy: str, folder: str) -> None:
        """Do as the policy says: none, move (below the folder) or delete."""
        self._store = store
        self._policy = policy
        self._folder = folder.strip("/")
        self._waiting: dict[str, tuple[StoredFile, int]] = {}
        self._is_due = False

    def read(self, file: StoredFile, records: int) -> None:
        """Take note of a file that was read to its end; it counts once so many records are committed."""
        if self._policy != spec.NONE:
            self._waiting[file.path] = (file, records)
            self._is_due = True

    def committed(self) -> None:
        """Take note that something was committed."""
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
        if self._policy == spec.DELETE:
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
