"""The log source passes the suite every source passes, also with a log that is rotated as it grows."""

from __future__ import annotations

import gzip
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest
from copycat_connect.data import (
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    ConnectValue,
    SchemaBuilder,
    Struct,
)
from copycat_connect.plugin import CONNECTORS, PluginSpec, load_plugins
from copycat_testkit.conformance import SourceConformance

FIELDS = SchemaBuilder.struct().field("number", OPTIONAL_INT32_SCHEMA).field("word", OPTIONAL_STRING_SCHEMA)


class LogSourceSuite(SourceConformance):
    """One log in a directory."""

    more: Mapping[str, str] = MappingProxyType({})

    @pytest.fixture(autouse=True)
    def _use(self, tmp_path: Path) -> None:
        self.log = tmp_path / "logs" / "app.log"
        self.log.parent.mkdir()

    def spec(self) -> PluginSpec:
        """Return the log source."""
        return load_plugins().find("LogSource", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        """Read the directory, a few records at a time."""
        return {
            "files": str(self.log.parent),
            "topic": "lines",
            "scan.interval.ms": "20",
            "rotated.wait.ms": "0",
            "batch.max.bytes": "64",
            **self.more,
        }

    def feed(self, numbers: range) -> Sequence[ConnectValue]:
        """Append lines with characters of several bytes."""
        lines = [f"{number} é😀" for number in numbers]
        with self.log.open("ab") as file:
            file.write("".join(f"{line}\n" for line in lines).encode())
        return lines


class TestLines(LogSourceSuite):
    """Lines as they are."""


class TestFields(LogSourceSuite):
    """The groups of an expression."""

    more = MappingProxyType({"line.regex": r"(?<number>\d+) (?<word>.*)", "line.regex.types": "number:int32"})

    def feed(self, numbers: range) -> Sequence[ConnectValue]:
        """Return structs."""
        lines = super().feed(numbers)
        pairs = [str(line).split(" ") for line in lines]
        schema = FIELDS.build()
        return [Struct.of_valid(schema, [int(number), word]) for number, word in pairs]


class TestRotated(LogSourceSuite):
    """A log that is renamed before it grows, and compressed the next time."""

    def feed(self, numbers: range) -> Sequence[ConnectValue]:
        """Give each pair of lines a file of its own."""
        lines: list[ConnectValue] = []
        for first in range(numbers.start, numbers.stop, 2):
            self.rotate()
            lines += super().feed(range(first, min(first + 2, numbers.stop)))
        return lines

    def rotate(self) -> None:
        """Do as logrotate does with `compress` and `delaycompress`."""
        folder = self.log.parent
        for number in range(9, 1, -1):
            old = folder / f"app.log.{number}.gz"
            if old.exists():
                old.rename(folder / f"app.log.{number + 1}.gz")
        first = folder / "app.log.1"
        if first.exists():
            with gzip.open(folder / "app.log.2.gz", "wb") as archive:
                archive.write(first.read_bytes())
            stamp = first.stat()
            os.utime(folder / "app.log.2.gz", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            first.unlink()
        if self.log.exists():
            self.log.rename(first)
