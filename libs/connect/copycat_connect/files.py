"""Files of users and of ours: read up to a limit, private to their owner, and whether there is room.

A name in a configuration may lead to a device that never ends or to a pipe that nobody writes into, by
mistake or on purpose.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path
from typing import Final

from copycat_connect.errors import ConfigError

MAX_NAMED_FILE_BYTES: Final = 4 * 1024 * 1024
"""More than any password, key store, properties file or bundle of certificates has."""
_CHUNK_BYTES: Final = 64 * 1024
#: A broker ends, or takes nothing, where less is free.
LEAST_FREE_BYTES = 1024 * 1024
FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""The rights of everybody but the owner."""


class NamedFileError(OSError):
    """What a name leads to is not read; `strerror` says why."""


def read_named_file(path: str | Path, limit: int = MAX_NAMED_FILE_BYTES) -> bytes:
    """Return all that is in a file.

    Raises:
        NamedFileError: It is no regular file, or has more bytes than the limit; no such name can be.
        OSError: It cannot be read.
    """
    check_named_file(path, limit)
    # Another thing may have the name by now: a pipe is opened without waiting, and looked at again.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _check(path, os.fstat(descriptor), limit)
        content = bytearray()
        # What is read counts, not what the file says: those of /proc say that they are empty.
        while chunk := os.read(descriptor, min(_CHUNK_BYTES, limit + 1 - len(content))):
            content += chunk
            if len(content) > limit:
                raise _too_long(path, limit)
    finally:
        os.close(descriptor)
    return bytes(content)


def check_named_file(path: str | Path, limit: int = MAX_NAMED_FILE_BYTES) -> None:
    """Refuse what `read_named_file` would not read, for a library that opens the file itself.

    Raises:
        NamedFileError: It is no regular file, or has more bytes than the limit; no such name can be.
        OSError: It does not exist, or may not be looked at.
    """
    try:
        found = Path(path).stat()
    except ValueError as error:  # a zero character, or half of a surrogate pair
        raise NamedFileError(errno.EINVAL, "no file can have this name", str(path)) from error
    _check(path, found, limit)


def check_client_file(key: str, path: str) -> None:
    """Refuse a file that a client of Kafka or of a database would read without end, or wait at for ever.

    A file that is missing is left to the client, which says so itself.

    Raises:
        ConfigError: It is no regular file, or is too long; the text names the key.
    """
    try:
        check_named_file(path)
    except NamedFileError as error:
        raise ConfigError(
            f"{key} has '{path}', which cannot be used ({error.strerror}): name a file that holds it", key=key
        ) from error
    except OSError:
        return


def _check(path: str | Path, found: os.stat_result, limit: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise NamedFileError(errno.EINVAL, "it is no regular file", str(path))
    if found.st_size > limit:
        raise _too_long(path, limit)


def _too_long(path: str | Path, limit: int) -> NamedFileError:
    return NamedFileError(errno.EFBIG, f"it has more than {limit} bytes", str(path))


def full_disk(folder: Path, least: int = LEAST_FREE_BYTES) -> str:
    """Say that less than `least` bytes are free where data lies; empty while there are more.

    Empty as well where there is no such folder: it may lie on another machine.
    """
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return ""
    if free >= least:
        return ""
    return f"no space is left where its data lies ({folder}: {free // 1024} KiB are free)"


def make_private(folder: Path) -> None:
    """Make a folder that only its owner may enter; one that is there is closed to others, with all in it.

    Parents that are missing are made private, too. A link is not followed within the folder.

    Raises:
        OSError: It cannot be made, or is somebody else's.
    """
    for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        missing.mkdir(mode=stat.S_IRWXU, exist_ok=True)
    if folder.stat().st_mode & FOR_OTHERS:
        close_to_others(folder)
        for root, folders, files in os.walk(folder):
            for name in (*folders, *files):
                close_to_others(Path(root, name))


def close_to_others(path: Path) -> None:
    """Remove the rights of everybody but the owner from a file or folder; a link stays as it is."""
    try:
        found = path.lstat().st_mode
        if found & FOR_OTHERS and not stat.S_ISLNK(found):
            path.chmod(stat.S_IMODE(found) & ~FOR_OTHERS)
    except FileNotFoundError:  # gone meanwhile
        return


def open_private(path: str | Path, flags: int) -> int:
    """Open a file for its owner only, also one that was there for others; an `opener` for `open`."""
    descriptor = os.open(path, flags, stat.S_IRUSR | stat.S_IWUSR)
    found = os.fstat(descriptor).st_mode
    if stat.S_ISREG(found) and found & FOR_OTHERS:
        os.fchmod(descriptor, stat.S_IMODE(found) & ~FOR_OTHERS)
    return descriptor
