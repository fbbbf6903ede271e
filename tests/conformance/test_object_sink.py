"""The object sinks pass the suites every sink that delivers exactly once passes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from copycat_connect.data import ConnectValue
from copycat_connect.plugin import CONNECTORS, PluginSpec, load_plugins
from copycat_testkit.conformance import ExactlyOnceSinkConformance


class TestObjectSink(ExactlyOnceSinkConformance):
    """JSON lines in a folder, a file for each record."""

    @pytest.fixture(autouse=True)
    def _use(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def spec(self) -> PluginSpec:
        """Return the connector."""
        return load_plugins().find("ObjectSink", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        """Write to a folder."""
        return {"topics": "conformance", "store.url": self.folder.as_uri(), "flush.size": "1"}

    def value(self, number: int) -> ConnectValue:
        """Return an object."""
        return {"number": number, "text": "é😀"}

    def written(self) -> Sequence[ConnectValue]:
        """Return the lines of all files, in the order of their offsets."""
        files = sorted(self.folder.glob("topics/conformance/partition=0/*.json"), key=lambda file: file.name)
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]


class TestHdfsSink(TestObjectSink):
    """The published HDFS sink's class and keys; what HDFS itself does is shown by the tests of stores."""

    def spec(self) -> PluginSpec:
        """Return the connector."""
        return load_plugins().find("HdfsSink", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        """Write to a folder."""
        place = {"hdfs.url": self.folder.as_uri(), "format.class": "json"}
        return {"topics": "conformance", "flush.size": "1", **place}
