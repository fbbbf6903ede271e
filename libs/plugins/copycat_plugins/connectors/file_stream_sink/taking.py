"""How a process gets a file, with its journal, for itself alone, whatever became of those before it.

Who holds the lock of the journal owns both. One who cannot get that lock within a moment copies what was
stored to new files and gives them the names of the old ones: the former owner, frozen for hours perhaps, goes
on with files that have no name, and nothing it writes there shows. All this is done under a lock of its own,
one process at a time, and may end by a kill at each step:

1. The data is copied to a file beside it, and a journal is made that names the copy by its inode. Whoever
   dies here leaves the old files as they are.
2. The journal gets its name: from here on the copy counts.
3. The copy gets its name. Whoever dies before that leaves it to the next one, who finds the copy that the
   journal names.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from copycat_connect.errors import ConnectError

from copycat_plugins.connectors.file_stream_sink.journal import Journal, JournalEntry

_AT_ONCE = 1 << 26
_NOT_BY_THE_SYSTEM = frozenset({errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM})


def copy_bytes(source: int, target: int, length: int) -> None:
    """Copy the first bytes of a file to the beginning of an empty one.

    Args:
        source: Descriptor to read from.
        target: Descriptor to write to; it must not be open for appending.
        length: How many bytes; the source has them.

    Raises:
        OSError: They could not be copied.
    """
    done = 0
    try:
        while done < length:
            copied = os.copy_file_range(source, target, min(length - done, _AT_ONCE), done, done)
            if copied == 0:
                break
            done += copied
    except OSError as error:
        if error.errno not in _NOT_BY_THE_SYSTEM:
            raise
    while done < length:
        chunk = os.pread(source, min(length - done, _AT_ONCE), done)
        if not chunk:
            raise OSError(errno.EIO, "The file became shorter while it was copied")
        done += os.pwrite(target, chunk, done)


#: Another process may be copying the file at this moment, which takes its time.
_OPENING_PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 0.02
_NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS})

_Wait = Callable[[float], bool]


def _try_lock(descriptor: int) -> bool:
    """Lock an open file for this process alone; False when another has it.

    Raises:
        ConnectError: The file system has no locks.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        raise ConnectError(
            "The file system has no locks (flock), and delivery.guarantee=exactly_once needs them"
        ) from error
    return True


def lock(descriptor: int, wait: _Wait, seconds: float) -> bool:
    """Lock an open file; False when another had it all the time, or until `wait` said not to wait."""
    until = time.monotonic() + seconds
    while not _try_lock(descriptor):
        if time.monotonic() >= until or wait(_PAUSE_SECONDS):
            return False
    return True


@contextmanager
def _locked(path: Path, wait: _Wait) -> Iterator[None]:
    """Hold the lock of a file that is made for it.

    Raises:
        ConnectError: Another process has it and keeps it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if not lock(descriptor, wait, _OPENING_PATIENCE_SECONDS):
            raise ConnectError(
                f"Another process is opening the file and does not end: it holds the lock of {path}"
            )
        yield
    finally:
        os.close(descriptor)


_log = logging.getLogger(__name__)

#: A task before this one that is ending has this long; one that is frozen is not waited for any longer.
_OWNER_PATIENCE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class FileNames:
    """A file and what lies beside it."""

    data: Path
    """The file, with no symbolic link on its way."""

    @classmethod
    def of(cls, path: str) -> FileNames:
        """Return the names for a file as a user gives it."""
        return cls(Path(os.path.realpath(path)))

    @property
    def journal(self) -> Path:
        """Where its positions are stored."""
        return self._beside("positions")

    @property
    def lock(self) -> Path:
        """Locked while somebody opens it."""
        return self._beside("lock")

    @property
    def copy(self) -> Path:
        """Its copy, for a moment."""
        return self._beside("copy")

    @property
    def new_journal(self) -> Path:
        """The journal of the copy, for a moment."""
        return self._beside("new-positions")

    def _beside(self, what: str) -> Path:
        return self.data.with_name(f"{self.data.name}.copycat-{what}")


@dataclass(frozen=True, slots=True)
class TakenFiles:
    """Files that belong to this process."""

    data: int
    """Descriptor to append to."""
    journal: Journal
    """Its newest entry says how long the data is."""


def take_files(names: FileNames, connector: str, wait: _Wait) -> TakenFiles:
    """Lock a file and its journal; make them where they are missing.

    Raises:
        ConnectError: They are another connector's, or cannot be had.
        OSError: The system refuses a step.
    """
    with ExitStack() as opened, _locked(names.lock, wait):
        try:
            found = _kept(opened, os.open(names.journal, os.O_RDWR))
        except FileNotFoundError:
            taken = _first(names, connector, opened)
        else:
            _check_owner(names, _journal(names, found).newest, connector)
            if lock(found, wait, _OWNER_PATIENCE_SECONDS):
                taken = _next(names, _journal(names, found), opened)
            else:
                _log.warning("%s is held by a process that does not end: it is copied", names.data)
                taken = _taken_over(names, _journal(names, found).newest, opened)
                os.close(found)
        opened.pop_all()
        return taken


def forget(path: str, connector: str) -> None:
    """Forget what a connector stored beside a file: it will not know what is appended from now on."""
    name = FileNames.of(path).journal
    with suppress(OSError, ConnectError), name.open("rb") as journal:
        if Journal(journal.fileno(), str(name)).newest.connector == connector:
            name.unlink()


def _first(names: FileNames, connector: str, opened: ExitStack) -> TakenFiles:
    data = _open_data(names, opened)
    os.fsync(data)
    status = os.fstat(data)
    journal = _new_journal(names, JournalEntry(1, connector, status.st_ino, status.st_size, {}), opened)
    names.new_journal.rename(names.journal)
    _sync_folder(names)
    return TakenFiles(data, journal)


def _next(names: FileNames, journal: Journal, opened: ExitStack) -> TakenFiles:
    _finish(names, journal.newest)
    data = _open_data(names, opened)
    entry, status = journal.newest, os.fstat(data)
    length = min(entry.length, status.st_size)
    if length < entry.length:
        _log.warning("%s lacks %d bytes that were stored", names.data, entry.length - length)
    if status.st_size > length:
        os.ftruncate(data, length)
    if (status.st_ino, length) != (entry.inode, entry.length):
        os.fsync(data)
        _sync_folder(names)
        journal.write(replace(entry, number=entry.number + 1, inode=status.st_ino, length=length))
    return TakenFiles(data, journal)


def _taken_over(names: FileNames, entry: JournalEntry, opened: ExitStack) -> TakenFiles:
    _finish(names, entry)
    data = _copy(names, entry.length, opened)
    status = os.fstat(data)
    copied = replace(entry, number=entry.number + 1, inode=status.st_ino, length=status.st_size)
    journal = _new_journal(names, copied, opened)
    _sync_folder(names)
    names.new_journal.rename(names.journal)
    _sync_folder(names)
    names.copy.rename(names.data)
    _sync_folder(names)
    return TakenFiles(data, journal)


def _finish(names: FileNames, entry: JournalEntry) -> None:
    """Do the last step of one who died before it."""
    with suppress(FileNotFoundError):
        if names.copy.stat().st_ino == entry.inode:
            names.copy.rename(names.data)
            _sync_folder(names)


def _check_owner(names: FileNames, entry: JournalEntry, connector: str) -> None:
    if entry.connector != connector:
        raise ConnectError(
            f"{names.data} belongs to connector {entry.connector}, whose positions are in {names.journal}: "
            f"choose another file, or delete {names.journal.name} if that connector is gone"
        )


def _journal(names: FileNames, descriptor: int) -> Journal:
    return Journal(descriptor, str(names.journal))


def _new_journal(names: FileNames, entry: JournalEntry, opened: ExitStack) -> Journal:
    """Make a journal that belongs to this process before anybody can find it."""
    names.new_journal.unlink(missing_ok=True)
    descriptor = os.open(names.new_journal, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    journal = _journal(names, _kept(opened, descriptor))
    _try_lock(descriptor)
    journal.write(entry)
    return journal


def _open_data(names: FileNames, opened: ExitStack) -> int:
    data = _kept(opened, os.open(names.data, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666))
    if not stat.S_ISREG(os.fstat(data).st_mode):
        raise ConnectError(f"{names.data} is no regular file: delivery.guarantee=exactly_once needs one")
    return data


def _copy(names: FileNames, length: int, opened: ExitStack) -> int:
    names.copy.unlink(missing_ok=True)
    with ExitStack() as reading:
        source = _open_data(names, reading)
        status = os.fstat(source)
        mode = stat.S_IMODE(status.st_mode)
        copy = _kept(opened, os.open(names.copy, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode))
        os.fchmod(copy, mode)
        with suppress(PermissionError):
            os.fchown(copy, status.st_uid, status.st_gid)
        copy_bytes(source, copy, min(length, status.st_size))
    os.fsync(copy)
    # The system copies to no file that is open for appending.
    fcntl.fcntl(copy, fcntl.F_SETFL, fcntl.fcntl(copy, fcntl.F_GETFL) | os.O_APPEND)
    return copy


def _kept(opened: ExitStack, descriptor: int) -> int:
    """Close a descriptor unless all goes well."""
    opened.callback(os.close, descriptor)
    return descriptor


def _sync_folder(names: FileNames) -> None:
    """Make names durable."""
    folder = os.open(names.data.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
