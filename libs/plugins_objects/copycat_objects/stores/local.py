"""A folder of this machine, or one that is mounted here, as a store."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from copycat_connect.errors import ConnectError

from copycat_objects.stores.errors import (
    FileMissingError,
    FileTakenError,
    StoreAwayError,
    StoreFullError,
    StoreRefusedError,
)
from copycat_objects.stores.pieces import answer_file
from copycat_objects.stores.store import StoredFile, checked

#: What passes: too many open files, a network file system that is away or was restarted, a busy one.
_PASSING: Final = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.EBUSY, errno.ESTALE, errno.ETIMEDOUT, errno.EHOSTDOWN}
)
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_REFUSED: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_NO_LINKS: Final = frozenset({errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


class LocalStore:
    """Files below one folder; durable means that file and folder were written through to the disk."""

    shows_unclosed_files = True

    def __init__(self, root: Path, key: str = "store.url") -> None:
        """Use a folder, which is made with its first file where it is missing.

        Args:
            root: The folder, absolute.
            key: The configuration key that names it, for the texts of errors.
        """
        self._root = root
        self._key = key

    @property
    def name(self) -> str:
        """The folder as an address."""
        return f"file://{self._root}"

    def create(self, path: str, *, replace: bool = False) -> LocalFile:
        """Begin a file; see the port."""
        target = self._at(path)
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if replace else os.O_EXCL) | os.O_CLOEXEC
        with self._told(f"create {path}"):
            _make_folders(target.parent)
            return LocalFile(self, target, os.open(target, flags, 0o666))

    def rename(self, source: str, target: str) -> None:
        """Give a file another name by a second link, which is never made where there is one; see the port.

        A crash between the two steps leaves both names; the same call then ends the work.
        """
        old, new = self._at(source), self._at(target)
        with self._told(f"rename {source} to {target}"):
            _make_folders(new.parent)
            try:
                os.link(old, new, follow_symlinks=False)
            except FileExistsError:
                if not _is_same(old, new):
                    raise
            _write_through(new.parent)
            old.unlink()
            _write_through(old.parent)

    def list(self, folder: str = "") -> Iterator[StoredFile]:
        """Yield every regular file; links are not followed out of the root. See the port."""
        waiting = [self._at(folder) if folder else self._root]
        while waiting:
            with self._told(f"list {folder or 'the root'}"):
                found = _entries(waiting.pop())
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                elif (file := self._stored(Path(entry.path))) is not None:
                    yield file

    def has_folder(self, folder: str = "") -> bool:
        """Return whether a folder is there; see the port."""
        return (self._at(folder) if folder else self._root).is_dir()

    def find(self, path: str) -> StoredFile | None:
        """Return the file at a path; see the port."""
        return self._stored(self._at(path))

    def open(self, path: str, offset: int = 0) -> BinaryIO:
        """Open for reading; see the port."""
        doing = f"read {path}"
        with self._told(doing):
            opened = self._at(path).open("rb", buffering=0)
            opened.seek(offset)
        return answer_file(opened, lambda error: self._broken(error, doing))

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Return some bytes of a file; see the port."""
        with self._told(f"read {path}"), self._at(path).open("rb", buffering=0) as opened:
            return _read_fully(opened.fileno(), offset, length)

    def delete(self, path: str) -> None:
        """Remove a file; see the port."""
        target = self._at(path)
        with self._told(f"delete {path}"), suppress(FileNotFoundError, NotADirectoryError):
            target.unlink()
            _write_through(target.parent)

    def close(self) -> None:
        """Do nothing: nothing stays open."""

    def _at(self, path: str) -> Path:
        return self._root / checked(path)

    def _stored(self, path: Path) -> StoredFile | None:
        with self._told(f"look at {path}"):
            try:
                found = path.stat(follow_symlinks=False)
            except (FileNotFoundError, NotADirectoryError):
                return None
        if not stat.S_ISREG(found.st_mode):
            return None
        return StoredFile(
            path.relative_to(self._root).as_posix(), found.st_size, found.st_mtime_ns // 1_000_000
        )

    @contextmanager
    def _told(self, doing: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self.failure(error, doing) from error

    def _broken(self, error: Exception, doing: str) -> ConnectError:
        if not isinstance(error, OSError):
            raise error
        return self.failure(error, doing)

    def failure(self, error: OSError, doing: str) -> ConnectError:
        """Return what a failed call of the operating system means for a connector."""
        text = f"Cannot {doing} in {self.name}: {error.strerror}"
        if isinstance(error, FileExistsError):
            return FileTakenError(text)
        if isinstance(error, FileNotFoundError):
            return FileMissingError(text)
        if error.errno in _PASSING:
            return StoreAwayError(text)
        if error.errno in _FULL:
            fix = f"the disk or the quota is full: make room there, or name another folder in '{self._key}'"
            return StoreFullError(f"{text}; {fix}")
        return StoreRefusedError(f"{text}; {self._remedy(error.errno)}")

    def _remedy(self, number: int | None) -> str:
        if number in _REFUSED:
            return f"let this user read and write there, or name another folder in '{self._key}'"
        if number in _NO_LINKS:
            return f"its file system has no hard links: name a folder of another one in '{self._key}'"
        return f"look at the folder that '{self._key}' names"


class LocalFile:
    """A file that is being written."""

    def __init__(self, store: LocalStore, path: Path, descriptor: int) -> None:
        """Write to a descriptor that was just opened."""
        self._store = store
        self._path = path
        self._descriptor = descriptor
        self._whole = True
        self.size = 0

    def write(self, content: bytes | memoryview) -> None:
        """Append bytes; see the port."""
        rest = memoryview(content).cast("B")
        self.size += len(rest)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError as error:
            self._whole = False
            raise self._store.failure(error, f"write {self._path.name}") from error

    def close(self) -> None:
        """Write file and folder through to the disk; see the port."""
        if not self._whole:
            raise StoreAwayError(f"{self._path.name} could not be written whole before: write it again")
        descriptor, self._descriptor = self._descriptor, -1
        try:
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            _write_through(self._path.parent)
        except OSError as error:
            raise self._store.failure(error, f"store {self._path.name}") from error

    def abort(self) -> None:
        """Remove what was written; see the port."""
        if self._descriptor < 0:
            return
        with suppress(OSError):
            os.close(self._descriptor)
            self._path.unlink(missing_ok=True)
        self._descriptor = -1


def _make_folders(folder: Path) -> None:
    """Make a folder and those above it, each durable in the one that holds it."""
    if folder.is_dir():
        return
    _make_folders(folder.parent)
    with suppress(FileExistsError):
        folder.mkdir()
    _write_through(folder.parent)


def _write_through(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_same(one: Path, other: Path) -> bool:
    return os.path.samestat(one.lstat(), other.lstat())


def _read_fully(descriptor: int, offset: int, length: int) -> bytes:
    parts: list[bytes] = []
    while length > 0 and (part := os.pread(descriptor, length, offset)):
        parts.append(part)
        offset, length = offset + len(part), length - len(part)
    return b"".join(parts)
