"""A memory log that a file outlives: standalone Connect's offsets file."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from copycat_connect.errors import ConfigError, NotWriterError, OutcomeUnknownError
from copycat_connect.files import close_to_others

from copycat_eventlog.java_map import JavaMapError, dump_map, load_map
from copycat_eventlog.log import Fold, Record, Revision
from copycat_eventlog.memory import MemoryLog, MemoryTopic


class FileLog(MemoryLog):
    """Rewrites its file at every append, as Kafka Connect does; each can go on with the other's file.

    The file holds facts and no history: a revision means nothing after a restart.
    """

    def __init__(self, path: Path, setting: str, partitions: int = 1) -> None:
        """Build it; `setting` is the property that names the file, for messages."""
        super().__init__(MemoryTopic(partitions))
        self._path = path
        self._setting = setting
        self._facts: dict[bytes, bytes] = {}
        self._turn = asyncio.Lock()
        self._failures = 0

    @property
    def name(self) -> str:
        """The file."""
        return str(self._path)

    async def start(self, fold: Fold) -> None:
        """Read the file, if there is one, and fold it."""
        facts = await asyncio.to_thread(self._read)
        self._facts = {key: value for key, value in facts.items() if value is not None}
        self.topic.write([Record(key, value) for key, value in self._facts.items()])
        await super().start(fold)

    async def append(self, records: Sequence[Record]) -> Revision:
        """Rewrite the file, then fold."""
        failures = self._failures
        async with self._turn:
            await self.lead()
            if failures != self._failures:
                raise NotWriterError("Nothing was appended: an append before this one failed")
            facts = _updated(self._facts, records)
            try:
                await asyncio.to_thread(_replace, self._path, dump_map(facts))
            except OSError as error:
                self._failures += 1
                raise OutcomeUnknownError(
                    f"Could not write {self._path} ({self._setting}): {error.strerror}"
                ) from error
            self._facts = facts
            return self.topic.write(records)

    def _read(self) -> dict[bytes, bytes | None]:
        try:
            close_to_others(self._path)
            return load_map(self._path.read_bytes())
        except FileNotFoundError:
            if self._path.parent.is_dir():
                return {}
            raise ConfigError(
                f"{self._setting}={self._path}: there is no folder {self._path.parent}; create it",
                key=self._setting,
            ) from None
        except OSError as error:
            raise ConfigError(
                f"{self._setting}={self._path} cannot be read: {error.strerror}", key=self._setting
            ) from error
        except JavaMapError as error:
            raise ConfigError(
                f"{self._setting}={self._path} is not an offsets file of Kafka Connect: {error}. "
                "Name another file, or move this one away to start without offsets.",
                key=self._setting,
            ) from error


def _updated(facts: Mapping[bytes, bytes], records: Sequence[Record]) -> dict[bytes, bytes]:
    updated = dict(facts)
    for record in records:
        if record.value is None:
            updated.pop(record.key, None)
        else:
            updated[record.key] = record.value
    return updated


def _replace(path: Path, content: bytes) -> None:
    """Write so that a crash at any moment leaves the old file or the new one."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # makes the renaming durable
    finally:
        os.close(folder)
