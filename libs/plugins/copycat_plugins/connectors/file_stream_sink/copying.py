"""Copy the beginning of a file; file systems that share blocks between files take no time for it."""

from __future__ import annotations

import errno
import os

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
            message = "The file became shorter while it was copied"
            raise OSError(errno.EIO, message)
        done += os.pwrite(target, chunk, done)
