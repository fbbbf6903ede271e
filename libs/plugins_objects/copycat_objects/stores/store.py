"""The port to a store of files: what an object connector needs of a folder, HDFS or S3, and no more.

Paths are texts below the root that a store was opened with: names with `/` between them, without a `/` at
either end, without empty names, `.` and `..`. The root is what `store.url` names, or a bucket.

Every call may raise these, beside what it says itself:

- `StoreAwayError` (a `RetriableError`): the store is away, slow or throttles; the same call may work later.
  Whether a call that changes something had its effect is then not known: look, before it is made again.
- `StoreRefusedError` (a `ConnectError`): the store will not do it, until somebody mends what the text names:
  a login, a right, a bucket, a full disk.

Calls of one store may come from several threads; a file that is being written or read belongs to one thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, Protocol

from copycat_connect.errors import ConnectError

#: Of an address: the store.
_AUTHORITY: Final = re.compile(r"^\w+:(//[^/]*)?")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as a store lists it."""

    path: str
    """Where it is, below the root."""
    size: int
    """Bytes."""
    modified_millis: int
    """When it was last written, in ms since 1970."""


class NewFile(Protocol):
    """A file that is being written; `close` or `abort` ends it. After an error only `abort` does."""

    @property
    def size(self) -> int:
        """Bytes written so far."""

    def write(self, content: bytes | memoryview) -> None:
        """Append bytes, all of them. They may be kept in memory, up to the size of a part."""

    def close(self) -> None:
        """Make the file complete and durable: it outlives a crash of this process and of the store's.

        Raises:
            FileTakenError: The path is taken, and the file was not to replace another; what was written is
                gone.
        """

    def abort(self) -> None:
        """Drop what was written, as far as the store can be reached; nothing after `close`.

        It raises nothing.
        """


class Store(Protocol):
    """Files in a folder, in HDFS or in S3. Reading and listing see what was closed or renamed before."""

    @property
    def shows_unclosed_files(self) -> bool:
        """True: a file is seen while it grows, so write to a temporary path and rename it (folder, HDFS).

        False: a file appears whole when it is closed, so write to the final path (S3).
        """

    @property
    def name(self) -> str:
        """The root as users know it and without secrets, e.g. `s3://bucket/prefix`."""

    def create(self, path: str, *, replace: bool = False) -> NewFile:
        """Begin a file; missing folders are made.

        Without `replace`, of all who write to one path only one succeeds, on whichever machines they are.

        Raises:
            FileTakenError: There is one already, and `replace` is False; or `close` raises it.
        """

    def rename(self, source: str, target: str) -> None:
        """Give a closed file another path, in one step, and never replace another; missing folders are made.

        Of all who rename to one target only one succeeds. S3 cannot rename: there it is a copy that appears
        whole, then the deletion of the source.

        Raises:
            FileTakenError: There is something at the target. The source stays.
            FileMissingError: There is no source.
        """

    def list(self, folder: str = "") -> Iterator[StoredFile]:
        """Yield every file in a folder and the folders below, in no particular order.

        A folder that is missing has none. Files that come or go meanwhile may be among them or not.
        """

    def has_folder(self, folder: str = "") -> bool:
        """Return whether a folder is there; a store that has no folders of its own says yes to each."""

    def find(self, path: str) -> StoredFile | None:
        """Return the file at a path, None if it is missing (a folder does not count)."""

    def open(self, path: str, offset: int = 0) -> BinaryIO:
        """Open a file for reading from a byte on, forward only; its `read` raises the errors of this port.

        Raises:
            FileMissingError: There is no such file.
        """

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Return so many bytes from a byte on, fewer where the file ends before.

        Raises:
            FileMissingError: There is no such file.
        """

    def delete(self, path: str) -> None:
        """Remove a file for good; nothing happens if it is missing."""

    def close(self) -> None:
        """Give back connections; files that are open are the caller's to end first."""


def checked(path: str) -> str:
    """Return a file's path that stays below the root of its store.

    Raises:
        ConnectError: It is no path of names with `/` between them.
    """
    names = path.split("/")
    if any(name in ("", ".", "..") or "\0" in name for name in names):
        raise ConnectError(
            f"Not a path of a file in a store: {path!r}; expected names with one '/' between them, no '..'"
        )
    return path


def path_of(address: str) -> str:
    """Return the path of a file without the system that has it, which may be named in several ways."""
    return _AUTHORITY.sub("", address)


def parent(path: str) -> str:
    """Return the folder of a file, empty for the root."""
    return path.rpartition("/")[0]
