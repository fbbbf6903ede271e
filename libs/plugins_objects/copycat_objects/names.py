"""Where the files of records lie in a store, and what their names say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from copycat_connect.data import TopicPartition
from copycat_connect.errors import DataError

TEMPORARY = "+tmp"
"""Folder beside those of the topics; no topic can have this name."""
OWN_FOLDER = "_copycat"
"""Folder in one of files without a table, with what none of its readers wants."""
_BAD_NAMES = ("", ".", "..")


@dataclass(frozen=True, slots=True)
class FileLayout:
    """The places of files below the root of a store."""

    topics: str
    """Folder of the topics; `${topic}` in it stands for the topic."""
    logs: str
    """Folder of the commit logs; likewise."""
    digits: int = 10
    """How many digits an offset has at least."""
    file_delimiter: str = "+"
    """Between the parts of a file's name."""
    names_last: bool = True
    """Whether names have the offset of the last record too."""

    def topic_folder(self, topic: str) -> str:
        """Return the folder of a topic's files."""
        return f"{_filled(self.topics, topic)}/{topic}"

    def temporary_folder(self, partition: TopicPartition) -> str:
        """Return the folder of files of a partition that are being written."""
        return f"{_filled(self.topics, partition.topic)}/{TEMPORARY}/{partition.topic}/{partition.partition}"

    def log_folder(self, partition: TopicPartition) -> str:
        """Return the folder of a partition's commit log."""
        return f"{_filled(self.logs, partition.topic)}/{partition.topic}/{partition.partition}"

    def file(
        self, topic: str, folder: str, source: TopicPartition, offsets: tuple[int, int], extension: str
    ) -> str:
        """Return the path of a file.

        Args:
            topic: The topic of the records, which a transformation may have changed.
            folder: What the partitioner says.
            source: Where the records were read.
            offsets: Those of the first and the last record.
            extension: The end of the name.
        """
        told = offsets if self.names_last else offsets[:1]
        parts = (source.topic, str(source.partition), *(f"{offset:0{self.digits}d}" for offset in told))
        return f"{self.topic_folder(topic)}/{folder}/{self.file_delimiter.join(parts)}{extension}"

    def first_of(self, partition: TopicPartition, paths: Iterable[str]) -> str | None:
        """Return the first of these paths that has records of a partition; None if no path has."""
        begin = self.file_delimiter.join((partition.topic, str(partition.partition), ""))
        return next((path for path in paths if path.rpartition("/")[2].startswith(begin)), None)

    def next_offset(self, partition: TopicPartition, paths: Iterable[str]) -> int | None:
        """Return the offset behind the last one in names of files; None when none does."""
        parts = (re.escape(partition.topic), str(partition.partition), r"\d+", r"(\d+)")
        pattern = re.compile(re.escape(self.file_delimiter).join(parts) + r"(\.\w+)*")
        found = (pattern.fullmatch(path.rpartition("/")[2]) for path in paths)
        return max((int(match[1]) + 1 for match in found if match is not None), default=None)


def checked_folder(folder: str) -> str:
    """Return a folder that a partitioner has made.

    Raises:
        DataError: It would lead out of the folder of the topic.
    """
    if any(name in _BAD_NAMES or "\0" in name for name in folder.split("/")):
        raise DataError(f"The folder would be {folder!r}: an empty name, '.' or '..' between two '/' is none")
    return folder


def _filled(folder: str, topic: str) -> str:
    return folder.replace("${topic}", topic)
