"""The commit log of a topic-partition, or of a folder: how far it got, and which files appear with that.

The entries are files whose names count up. An entry is there or not, whole: to append is to create the file
that has the next number, which only one of all who try can do. What the newest entry says counts:

- its position says which records are in no file yet;
- its files have to be at their paths. Whoever finds it sees to that first, so that of a commit of several
  files all appear, whoever dies in between.

A task that begins appends an entry of its own. A task before it, frozen for hours perhaps, goes on with a
number that is taken, so that nothing it commits counts: it cannot append, and does not publish.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar
from uuid import uuid4

from copycat_connect.errors import ConnectError

from copycat_objects.staging import Claim, LostFileError, StagedFile, Staging
from copycat_objects.stores.errors import FileMissingError, FileTakenError
from copycat_objects.stores.store import Store

_log = logging.getLogger(__name__)
P = TypeVar("P")
_PREFIX: Final = "commit-"
#: Older entries are deleted. Some are kept, so that who lists meanwhile finds one that was not.
_KEPT: Final = 4
#: Files that are published at once: each is several calls of a store.
_MAX_CONCURRENT_FILES: Final = 8


class FencedError(ConnectError):
    """Another task writes this partition, or this table, now."""


@dataclass(frozen=True, slots=True)
class LogFolders:
    """Where a log is."""

    entries: str
    """Folder of its entries, and of nothing else."""
    temporary: str
    """Folder of files that are not committed."""
    key: str
    """The configuration keys that choose them, for the texts of errors."""


@dataclass(frozen=True, slots=True)
class Commit(Generic[P]):
    """An entry."""

    number: int
    """Counts the entries; the highest counts."""
    position: P
    """Where reading goes on, as JSON has it."""
    connector: str
    """Who wrote it, for people."""
    files: tuple[tuple[str, str], ...] = field(default=())
    """Sealed files with the paths they have to be at."""

    def encode(self) -> bytes:
        """Return the content of its file."""
        fields = {"position": self.position, "connector": self.connector, "files": self.files}
        return json.dumps(fields, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, number: int, content: bytes, path: str) -> Commit[P]:
        """Read an entry.

        Raises:
            ConnectError: It is malformed.
        """
        try:
            fields: dict[str, Any] = json.loads(content)
            files = tuple((str(sealed), str(final)) for sealed, final in fields["files"])
            return cls(number, fields["position"], fields["connector"], files)
        except (ValueError, KeyError, TypeError) as error:
            raise ConnectError(
                f"{path} is no entry of a commit log: somebody else wrote or changed it. Delete the files in "
                "its folder to go on behind the last offset in names of written files, or, where these have "
                "none, at the consumer group's"
            ) from error


class CommitLog(Generic[P]):
    """Reads and appends, and has files appear; one task at a time succeeds."""

    def __init__(self, store: Store, folders: LogFolders, connector: str) -> None:
        """Use folders of a store; `connector` is whom entries name."""
        self._store, self._folders, self._connector = store, folders, connector
        self._staging = Staging(store)
        self._claim = self.claim_of(0)
        self._number = -1

    def read(self) -> Commit[P] | None:
        """Return the newest entry; None without any."""
        while numbers := self._numbers():
            newest = max(numbers)
            path = self._path(newest)
            with suppress(FileMissingError):
                return Commit.decode(newest, self._store.read(path, 0, 1 << 30), path)
        return None

    def recover(self, *, lost_is_accepted: bool = False) -> Commit[P] | None:
        """Return the newest entry, whose files are at their paths then; None without any.

        Raises:
            LostFileError: One was deleted, and that is not accepted.
        """
        found = self.read()
        if found is not None:
            self._publish(found.files, lost_is_accepted=lost_is_accepted)
        return found

    def claim(self, found: Commit[P] | None, position: P) -> None:
        """Append this task's first entry, which bars those before it; what these began is deleted.

        Args:
            found: What `recover` returned.
            position: Where this task goes on.

        Raises:
            FencedError: Another task was quicker.
        """
        self._claim = self.claim_after(found)
        self._number = self._claim.number - 1
        self._append(position, ())
        self._staging.clear(self._claim)

    def begin(self, extension: str) -> StagedFile:
        """Begin a file for a later commit."""
        return self._staging.begin(self._claim, extension)

    def claim_after(self, found: Commit[P] | None) -> Claim:
        """Return what `claim` would claim."""
        return self.claim_of(0 if found is None else found.number + 1)

    def claim_of(self, number: int) -> Claim:
        """Return a claim, in whose folder other processes write files for its commits."""
        return Claim(self._folders.temporary, number)

    def commit(self, position: P, files: Sequence[tuple[str, str]]) -> None:
        """Append an entry, then have sealed files appear at their paths.

        Raises:
            FencedError: Another task writes here now.
            ConnectError: It is not known whether it was done: claim again.
        """
        self._append(position, tuple(files))
        self._publish(files)

    def _append(self, position: P, files: tuple[tuple[str, str], ...]) -> None:
        """Append an entry; the files of the one before are at their paths.

        Raises:
            FencedError: Another task writes here now.
        """
        entry = Commit(self._number + 1, position, self._connector, files)
        path = self._path(entry.number)
        try:
            self._create(path, entry.encode())
        except FileTakenError as error:
            raise self._fenced() from error
        numbers = self._numbers()
        if max(numbers, default=entry.number) > entry.number:
            # The number was free only because entries as old are deleted.
            self._store.delete(path)
            raise self._fenced()
        self._number = entry.number
        for number in numbers:
            if number <= entry.number - _KEPT:
                self._store.delete(self._path(number))

    def _create(self, path: str, content: bytes) -> None:
        """Create a file that is seen whole or not at all, and only if it is missing.

        Raises:
            FileTakenError: There is one.
        """
        if not self._store.shows_unclosed_files:
            file = self._store.create(path)
            file.write(content)
            file.close()
            return
        temporary = f"{self._claim.folder}/{uuid4().hex}"
        file = self._store.create(temporary)
        file.write(content)
        file.close()
        try:
            self._store.rename(temporary, path)
        except FileMissingError as error:
            # The next task swept it away when it began.
            raise self._fenced() from error
        except FileTakenError:
            self._store.delete(temporary)
            raise

    def _publish(self, files: Sequence[tuple[str, str]], *, lost_is_accepted: bool = False) -> None:
        def publish(file: tuple[str, str]) -> None:
            try:
                self._staging.publish(*file)
            except LostFileError as error:
                if not lost_is_accepted:
                    raise
                _log.warning("It goes on without a file: %s", error)

        if len(files) < 2:
            for file in files:
                publish(file)
            return
        with ThreadPoolExecutor(_MAX_CONCURRENT_FILES, thread_name_prefix="publish") as pool:
            for _ in pool.map(publish, files):
                pass

    def _fenced(self) -> FencedError:
        return FencedError(
            f"Another task or connector writes here now: it added an entry to {self._folders.entries} in "
            f"{self._store.name}. Where two connectors write the same, give one another {self._folders.key}"
        )

    def _numbers(self) -> list[int]:
        names = (file.path.rpartition("/")[2] for file in self._store.list(self._folders.entries))
        numbers = (name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX))
        return [int(number) for number in numbers if number.isdecimal()]

    def _path(self, number: int) -> str:
        return f"{self._folders.entries}/{_PREFIX}{number:020d}"
