"""A store whose changes are watched, and a process that is killed at one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from copycat_objects.stores.store import NewFile, Store, StoredFile

Watch = Callable[[str, str, bool], None]
"""Called with what is done, the path that changes, and whether it is done yet."""


class KilledError(BaseException):
    """Ends whatever runs, as a kill does; nobody who handles errors catches it."""


class WatchedStore:
    """Reports each file that is closed, renamed or deleted, before and after."""

    def __init__(self, store: Store, watch: Watch) -> None:
        """Watch a store."""
        self._store = store
        self._watch = watch
        self.shows_unclosed_files = store.shows_unclosed_files
        self.name = store.name

    def create(self, path: str, *, replace: bool = False) -> NewFile:
        """Begin a file whose close is reported."""
        return _WatchedFile(self._store.create(path, replace=replace), path, self._watch)

    def rename(self, source: str, target: str) -> None:
        """Rename."""
        self._watch("rename", target, False)
        self._store.rename(source, target)
        self._watch("rename", target, True)

    def delete(self, path: str) -> None:
        """Delete."""
        self._watch("delete", path, False)
        self._store.delete(path)
        self._watch("delete", path, True)

    def list(self, folder: str = "") -> Iterator[StoredFile]:
        """List."""
        return self._store.list(folder)

    def has_folder(self, folder: str = "") -> bool:
        """Look for a folder."""
        return self._store.has_folder(folder)

    def find(self, path: str) -> StoredFile | None:
        """Find."""
        return self._store.find(path)

    def open(self, path: str, offset: int = 0) -> BinaryIO:
        """Open."""
        return self._store.open(path, offset)

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Read."""
        return self._store.read(path, offset, length)

    def close(self) -> None:
        """Close."""
        self._store.close()


class _WatchedFile:
    def __init__(self, file: NewFile, path: str, watch: Watch) -> None:
        self._file = file
        self._path = path
        self._watch = watch

    @property
    def size(self) -> int:
        return self._file.size

    def write(self, content: bytes | memoryview) -> None:
        self._file.write(content)

    def close(self) -> None:
        self._watch("close", self._path, False)
        self._file.close()
        self._watch("close", self._path, True)

    def abort(self) -> None:
        self._file.abort()


def killer(step: int) -> Watch:
    """Return a watch that has all fail from a step on: each change is two, before and after."""
    seen = 0

    def watch(doing: str, path: str, is_done: bool) -> None:
        nonlocal seen
        del doing, path, is_done
        seen += 1
        if seen >= step:
            raise KilledError

    return watch
