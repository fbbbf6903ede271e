"""The file connectors pass the suites every connector passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from copycat_connect.plugin import CONNECTORS, PluginSpec, load_plugins
from copycat_testkit.conformance import (
    ExactlyOnceSinkConformance,
    SinkConformance,
    SourceConformance,
)


class TestFileStreamSource(SourceConformance):
    """Lines of a file."""

    @pytest.fixture(autouse=True)
    def _use(self, tmp_path: Path) -> None:
        self.file = tmp_path / "in.txt"

    def spec(self) -> PluginSpec:
        """Return the file source."""
        return load_plugins().find("FileStreamSource", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        """Read the file three lines at a time."""
        return {"file": str(self.file), "topic": "lines", "batch.size": "3"}

    def feed(self, numbers: range) -> Sequence[str]:
        """Append lines with characters of several bytes."""
        lines = [f"line {number} é😀" for number in numbers]
        with self.file.open("ab") as file:
            file.write("".join(f"{line}\n" for line in lines).encode())
        return lines


class FileStreamSinkSuite(SinkConformance):
    """A file of lines."""

    @pytest.fixture(autouse=True)
    def _use(self, tmp_path: Path) -> None:
        self.file = tmp_path / "out.txt"

    def spec(self) -> PluginSpec:
        """Return the file sink."""
        return load_plugins().find("FileStreamSink", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        """Append to the file."""
        return {"file": str(self.file), "topics": "conformance"}

    def value(self, number: int) -> str:
        """Return a line."""
        return f"value {number} é"

    def written(self) -> Sequence[str]:
        """Return the lines of the file."""
        return self.file.read_text("utf-8").splitlines()


class TestFileStreamSink(FileStreamSinkSuite):
    """As it is without a choice."""

    exactly_once = True  # shown below


class TestFileStreamSinkExactlyOnce(FileStreamSinkSuite, ExactlyOnceSinkConformance):
    """With positions beside the file."""
