"""The file that lines are appended to exactly once: its positions are stored beside it, in a journal."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from copycat_connect.data import TopicPartition
from copycat_connect.errors import ConnectError

from copycat_plugins.connectors.file_stream_sink.journal import JournalEntry
from copycat_plugins.connectors.file_stream_sink.line_file import LINE_END
from copycat_plugins.connectors.file_stream_sink.taking import FileNames, take_files


class ExactFile:
    """Appends whole batches; `store` makes them durable together with the positions behind them.

    A batch counts once it was stored. After a kill at any instruction the next one who opens the file finds
    what was stored, no less and no more. A process that was thought dead, and goes on, writes to a file that
    has no name any more: see `take_files`.
    """

    def __init__(self, path: str, connector: str, wait: Callable[[float], bool]) -> None:
        """Open a file that this process alone writes to from now on; cut off what was not stored.

        Args:
            path: Path of the file; it is made where it is missing.
            connector: Name of the connector; a file belongs to one.
            wait: Waits for some seconds, or until stopped; then it returns True.

        Raises:
            ConnectError: The file cannot be opened, or is another connector's.
        """
        self._names = FileNames.of(path)
        try:
            taken = take_files(self._names, connector, wait)
        except OSError as error:
            raise ConnectError(
                f"Couldn't open file '{path}' with its positions for FileStreamSinkTask: {error}"
            ) from error
        self._data, self._journal = taken.data, taken.journal
        self._end = self._journal.newest.length
        last = os.pread(self._data, 1, self._end - 1) if self._end else LINE_END
        self._ends_in_a_line = last == LINE_END[-1:] or not self._end

    @property
    def positions(self) -> Mapping[TopicPartition, int]:
        """The first record of each partition that is not stored."""
        return self._journal.newest.positions

    def append(self, lines: bytes) -> None:
        """Write lines, the last of them ended too; all of them or none.

        Raises:
            ConnectError: They could not be written, or somebody else writes to the file.
        """
        self._check_size()
        whole = lines if self._ends_in_a_line else LINE_END + lines
        rest = memoryview(whole)
        try:
            while rest:
                rest = rest[os.write(self._data, rest) :]
        except OSError as error:
            os.ftruncate(self._data, self._end)
            raise ConnectError(f"Writing to {self._names.data} failed: {error.strerror}") from error
        self._end += len(whole)
        self._ends_in_a_line = True

    def store(self, positions: Mapping[TopicPartition, int]) -> None:
        """Make what was appended durable, together with positions; others stay as they are.

        Raises:
            ConnectError: Nothing is known of what was stored; open the file again.
        """
        entry = self._journal.newest
        known = {**entry.positions, **positions}
        if entry.length == self._end and entry.positions == known:
            return
        self._replace(replace(entry, number=entry.number + 1, length=self._end, positions=known))

    def move(self, positions: Mapping[TopicPartition, int | None]) -> None:
        """Change stored positions for a user; None forgets one, no positions at all forget all.

        Raises:
            ConnectError: They could not be stored.
        """
        entry = self._journal.newest
        changed = {**entry.positions, **positions} if positions else {}
        kept = {each: offset for each, offset in changed.items() if offset is not None}
        self._replace(replace(entry, number=entry.number + 1, positions=kept))

    def close(self) -> None:
        """Let others open the file."""
        os.close(self._journal.descriptor)
        os.close(self._data)

    def _replace(self, entry: JournalEntry) -> None:
        self._check_size()
        try:
            os.fsync(self._data)
            self._journal.write(entry)
        except OSError as error:
            raise ConnectError(
                f"Storing {self._names.data} with its positions failed: {error.strerror}"
            ) from error
        self._check_names()

    def _check_size(self) -> None:
        size = os.fstat(self._data).st_size
        if size != self._end:
            raise ConnectError(
                f"{self._names.data} has {size} bytes instead of {self._end}: somebody else writes to it, "
                "which delivery.guarantee=exactly_once does not allow"
            )

    def _check_names(self) -> None:
        """See that the files are still found by their names: else nobody will know of what was stored."""
        for name, descriptor in (
            (self._names.data, self._data),
            (self._names.journal, self._journal.descriptor),
        ):
            if not _is_at(name, descriptor):
                raise ConnectError(
                    f"{name} is another file now: it was taken over by another task, or moved or deleted"
                )


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
