"""The commit log of one topic-partition: how far it got, and which files appear with that.

The entries are files whose names count up. An entry is there or not, whole: to append is to create the file
that has the next number, which only one of all who try can do. What the newest entry says counts:

- its position is the offset of the first record that is in no file yet;
- its files have to be at their paths. Whoever finds it sees to that first, so that of a commit of several
  files all appear, whoever dies in between.

A task that begins appends an entry of its own. A task before it, frozen for hours perhaps, goes on with a
number that is taken, so that nothing it commits counts: it cannot append, and does not publish.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import uuid4

from copycat_connect.data import TopicPartition
from copycat_connect.errors import ConnectError

from copycat_objects.names import FileLayout
from copycat_objects.staging import Claim
from copycat_objects.stores.errors import FileMissingError, FileTakenError
from copycat_objects.stores.store import Store

_PREFIX: Final = "commit-"
#: Older entries are deleted. Some are kept, so that who lists meanwhile finds one that was not.
_KEPT: Final = 4


class FencedError(ConnectError):
    """Another task writes this partition, or this table, now."""


@dataclass(frozen=True, slots=True)
class Commit:
    """An entry."""

    number: int
    """Counts the entries; the highest counts."""
    position: int | None
    """Offset of the first record that is in no file; None leaves it to the consumer group."""
    connector: str
    """Who wrote it, for people."""
    files: tuple[tuple[str, str], ...] = field(default=())
    """Sealed files with the paths they have to be at."""

    def encode(self) -> bytes:
        """Return the content of its file."""
        fields = {"position": self.position, "connector": self.connector, "files": self.files}
        return json.dumps(fields, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, number: int, content: bytes, path: str) -> Commit:
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
                f"{path} is no entry of a commit log: somebody else wrote or changed it. Delete the "
                "files in its "
                "folder to go on behind the last offset that the names of the written files tell"
            ) from error


class CommitLog:
    """Reads and appends; one task at a time succeeds."""

    def __init__(self, store: Store, layout: FileLayout, partition: TopicPartition, connector: str) -> None:
        """Use the folder of a partition."""
        self._store = store
        self._partition = partition
        self._layout = layout
        self._folder = layout.log_folder(partition)
        self._connector = connector
        self._claim = Claim(partition, -1)
        self._newest = Commit(-1, None, connector)

    def read(self) -> Commit | None:
        """Return the newest entry; None without any."""
        while numbers := self._numbers():
            newest = max(numbers)
            path = self._path(newest)
            with suppress(FileMissingError):
                return Commit.decode(newest, self._store.read(path, 0, 1 << 30), path)
        return None

    def claim(self, found: Commit | None, position: int | None) -> Claim:
        """Append this task's first entry, which bars those before it.

        Args:
            found: The newest entry, whose files are at their paths.
            position: Where this task goes on.

        Raises:
            FencedError: Another task was quicker.
        """
        self._newest = found or Commit(-1, None, self._connector)
        self._claim = Claim(self._partition, self._newest.number + 1)
        self.append(position, ())
        return self._claim

    def append(self, position: int | None, files: tuple[tuple[str, str], ...]) -> None:
        """Append an entry; the files of the one before are at their paths.

        Raises:
            FencedError: Another task writes this partition now.
        """
        entry = replace(
            self._newest,
            number=self._newest.number + 1,
            position=position,
            connector=self._connector,
            files=files,
        )
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
        self._newest = entry
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
        temporary = f"{self._claim.folder(self._layout)}/{uuid4().hex}"
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

    def _fenced(self) -> FencedError:
        return FencedError(
            f"Another task or connector writes this partition now: it added an entry to {self._folder} in "
            f"{self._store.name}. Where two connectors write the same topic, give one another 'topics.dir' "
            "and 'logs.dir'"
        )

    def _numbers(self) -> list[int]:
        names = (file.path.rpartition("/")[2] for file in self._store.list(self._folder))
        numbers = (name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX))
        return [int(number) for number in numbers if number.isdecimal()]

    def _path(self, number: int) -> str:
        return f"{self._folder}/{_PREFIX}{number:020d}"
