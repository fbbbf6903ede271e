"""How the files of a topic-partition appear: each whole, and in one of two ways.

- `LoggedFiles`: out of sight until a commit log has an entry with them, so that all files of a commit and the
  position behind them count together, and one task at a time can commit.
- `FilesInPlace`: each at once under its final name, which the offset of its first record gives. Who writes
  the same records again replaces the same files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from copycat_connect.data import TopicPartition

from copycat_objects.commit_log import CommitLog, LogFolders
from copycat_objects.names import FileLayout
from copycat_objects.settings import SinkSettings
from copycat_objects.staging import StagedFile
from copycat_objects.stores.store import Store


class Publication(Protocol):
    """The files of one topic-partition."""

    def claim(self) -> int | None:
        """Take over the partition from its writer; returns where to go on, None where the group says that.

        Raises:
            ConnectError: It cannot be had now.
        """

    def held(self) -> str | None:
        """Return where something is that another topic of this name would meet; None when nothing is."""

    def begin(self, topic: str, folder: str, first: int) -> StagedFile:
        """Begin a file of a topic in a folder, whose first record has that offset."""

    def commit(self, position: int | None, files: Sequence[tuple[str, str]]) -> None:
        """Make sealed files appear at their paths, and have reading go on at a position.

        Raises:
            ConnectError: It is not known whether they did: claim the partition again.
        """


class LoggedFiles:
    """Appear with an entry of a commit log."""

    def __init__(self, store: Store, settings: SinkSettings, partition: TopicPartition) -> None:
        """Use the folders of a partition."""
        self._store = store
        self._partition = partition
        self._layout = settings.layout
        self._extension = settings.format.extension
        self._log = log_of(store, settings, partition)

    def claim(self) -> int | None:
        """End what the last task committed, and bar it; see the port."""
        found = self._log.recover()
        if found is None:
            listed = _listed(self._store, self._layout, self._partition)
            position = self._layout.next_offset(self._partition, listed)
        else:
            position = found.position
        self._log.claim(found, position)
        return position

    def held(self) -> str | None:
        """Look for files, then for a position; see the port."""
        found = self._log.read()
        logged = found is not None and found.position
        folder = self._layout.log_folder(self._partition)
        return _first_file(self._store, self._layout, self._partition) or (folder if logged else None)

    def begin(self, topic: str, folder: str, first: int) -> StagedFile:
        """Begin a temporary file; see the port."""
        del topic, folder, first
        return self._log.begin(self._extension)

    def commit(self, position: int | None, files: Sequence[tuple[str, str]]) -> None:
        """Append an entry, then rename; see the port."""
        self._log.commit(position, files)


class FilesInPlace:
    """Appear when they are sealed."""

    def __init__(self, store: Store, settings: SinkSettings, partition: TopicPartition) -> None:
        """Use the folders of a partition."""
        self._store = store
        self._partition = partition
        self._layout = settings.layout
        self._extension = settings.format.extension

    def claim(self) -> int | None:
        """Leave it to the consumer group."""
        return None

    def held(self) -> str | None:
        """Look for files; see the port."""
        return _first_file(self._store, self._layout, self._partition)

    def begin(self, topic: str, folder: str, first: int) -> StagedFile:
        """Begin a file at its final path, over one that is there; see the port."""
        path = self._layout.file(topic, folder, self._partition, (first, first), self._extension)
        return StagedFile(path, self._store.create(path, replace=True))

    def commit(self, position: int | None, files: Sequence[tuple[str, str]]) -> None:
        """Do nothing: they are there."""


def log_of(store: Store, settings: SinkSettings, partition: TopicPartition) -> CommitLog[int | None]:
    """Return the commit log of a topic-partition.

    Its position is the offset of the first record that is in no file; None leaves it to the consumer group.
    """
    layout = settings.layout
    keys = "'topics.dir' and 'logs.dir'"
    folders = LogFolders(layout.log_folder(partition), layout.temporary_folder(partition), keys)
    return CommitLog(store, folders, settings.connector)


def _listed(store: Store, layout: FileLayout, partition: TopicPartition) -> Iterator[str]:
    return (file.path for file in store.list(layout.topic_folder(partition.topic)))


def _first_file(store: Store, layout: FileLayout, partition: TopicPartition) -> str | None:
    return layout.first_of(partition, _listed(store, layout, partition))


def publication_of(store: Store, settings: SinkSettings, partition: TopicPartition) -> Publication:
    """Return what the settings say."""
    return (LoggedFiles if settings.logged else FilesInPlace)(store, settings, partition)
