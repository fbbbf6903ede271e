"""The log suite on the logs that need no broker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from copycat_eventlog.file_log import FileLog
from copycat_eventlog.log import Log, Record
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_testkit.log_suite import LogSuite

pytestmark = pytest.mark.row("K26-47")


class InMemory:
    def __init__(self) -> None:
        self.topic = MemoryTopic(partitions=3)

    def log(self) -> Log:
        return MemoryLog(self.topic)

    async def write(self, records: Sequence[Record]) -> None:
        self.topic.write(records)


class InFile:
    def __init__(self, path: Path) -> None:
        self.path = path

    def log(self) -> Log:
        return FileLog(self.path, "offset.storage.file.filename", partitions=3)

    async def write(self, records: Sequence[Record]) -> None:
        raise AssertionError


class TestMemoryLog(LogSuite):
    @pytest.fixture
    def place(self) -> InMemory:
        return InMemory()


class TestFileLog(LogSuite):
    #: The file holds facts only, and belongs to one process.
    exempt: ClassVar[frozenset[str]] = frozenset({"history", "standby", "foreign writers"})

    @pytest.fixture
    def place(self, tmp_path: Path) -> InFile:
        return InFile(tmp_path / "offsets")
