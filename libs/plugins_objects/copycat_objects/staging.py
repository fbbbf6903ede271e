"""Files that are complete and durable before anybody can see them, and then appear in one step.

A file that was sealed is named by a text, the path of its temporary file, which any process can publish or
drop later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from copycat_connect.errors import ConnectError

from copycat_objects.stores.errors import FileMissingError, FileTakenError
from copycat_objects.stores.store import NewFile, Store

_COPY_BYTES: Final = 1 << 20


class LostFileError(ConnectError):
    """A file that was committed is nowhere."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A task's right to write what a commit log is of, until another one claims it."""

    temporary: str
    """Folder of the temporary files of all claims."""
    number: int
    """Counts the claims; the highest counts."""

    @property
    def folder(self) -> str:
        """The folder of this claim's temporary files."""
        return f"{self.temporary}/{self.number:020d}"


class Staging:
    """Temporary files in the same store, renamed; in S3 that is a copy that appears whole."""

    def __init__(self, store: Store) -> None:
        """Use a store."""
        self._store = store

    def begin(self, claim: Claim, extension: str) -> StagedFile:
        """Begin a file."""
        temporary = f"{claim.folder}/{uuid4().hex}_tmp{extension}"
        return StagedFile(temporary, self._store.create(temporary))

    def publish(self, sealed: str, path: str) -> None:
        """Make a sealed file appear at its path, instead of what is there.

        It may be repeated, also by several processes at once.

        Raises:
            LostFileError: The sealed file is gone, and was not published.
        """
        try:
            self._store.rename(sealed, path)
        except FileTakenError:
            self._replace(sealed, path)
        except FileMissingError:
            self._check_published(sealed, path)

    def _replace(self, sealed: str, path: str) -> None:
        """Publish over an older file of the same records: a user went back to write them anew."""
        try:
            if not self._store.shows_unclosed_files:
                # Also where another process copied it meanwhile: the path holds a whole file all the time.
                self._copy(sealed, path)
            elif self._store.find(sealed) is not None:
                self._store.delete(path)
                self._store.rename(sealed, path)
        except (FileTakenError, FileMissingError):
            self._check_published(sealed, path)

    def _copy(self, sealed: str, path: str) -> None:
        with self._store.open(sealed) as content:
            copy = self._store.create(path, replace=True)
            while part := content.read(_COPY_BYTES):
                copy.write(part)
            copy.close()
        self._store.delete(sealed)

    def _check_published(self, sealed: str, path: str) -> None:
        if self._store.find(path) is None:
            raise LostFileError(
                f"Neither {sealed} nor {path} is in {self._store.name}: somebody deleted records there "
                "that were committed. Alter the connector's offsets to read them from Kafka again"
            )

    def clear(self, claim: Claim) -> None:
        """Delete what earlier tasks began and nobody will publish."""
        for file in list(self._store.list(claim.temporary)):
            number = file.path.split("/")[-2]
            if number.isdecimal() and int(number) < claim.number:
                self._store.delete(file.path)


class StagedFile:
    """A file that is being written, out of sight."""

    def __init__(self, path: str, file: NewFile) -> None:
        """Write to a temporary file."""
        self._path = path
        self._file = file
        self._is_dropped = False

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._file.size

    def write(self, content: bytes | memoryview) -> None:
        """Append bytes, all of them."""
        # Arrow and gzip write the end of a file when they are thrown away, also after `abort`.
        if not self._is_dropped:
            self._file.write(content)

    def seal(self) -> str:
        """Make it complete and durable, still out of sight; returns what `publish` needs."""
        self._file.close()
        return self._path

    def abort(self) -> None:
        """Drop it; raises nothing."""
        self._is_dropped = True
        self._file.abort()
