"""Kafka's connectors for tests pass the suites every connector passes; the mocks deliver nothing to check."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest
from copycat_connect.data import Struct
from copycat_connect.plugin import CONNECTORS, PluginSpec, load_plugins
from copycat_plugins.connectors.schema_source import SCHEMA
from copycat_testkit.conformance import SinkConformance, SourceConformance


class TestVerifiableSource(SourceConformance):
    """Numbers, which need no feeding."""

    def spec(self) -> PluginSpec:
        """Return the source."""
        return load_plugins().find("VerifiableSource", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        """Count as fast as it goes."""
        return {"name": "verifiable", "topic": "numbers", "throughput": "-1"}

    def feed(self, numbers: range) -> Sequence[int]:
        """Return the numbers: they come by themselves."""
        return numbers


class TestSchemaSource(SourceConformance):
    """Structs, which need no feeding."""

    def spec(self) -> PluginSpec:
        """Return the source."""
        return load_plugins().find("SchemaSource", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        """More structs than any test reads."""
        return {"topic": "structs", "num.messages": "100", "throughput": "-1", "partition.count": "3"}

    def feed(self, numbers: range) -> Sequence[Struct]:
        """Return the structs, made here of a literal."""
        same = {"boolean": True, "int": 12, "long": 12, "float": 12.199999809265137, "double": 12.2, "id": 0}
        return [Struct(SCHEMA, {**same, "partitioning": n % 3, "seqno": n}) for n in numbers]


class TestVerifiableSink(SinkConformance):
    """Lines on the standard output."""

    @pytest.fixture(autouse=True)
    def _use(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.output = capsys
        self.printed = ""

    def spec(self) -> PluginSpec:
        """Return the sink."""
        return load_plugins().find("VerifiableSink", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        """Print what is read."""
        return {"name": "verifiable", "topics": "conformance"}

    def value(self, number: int) -> int:
        """Return a number."""
        return number

    def written(self) -> Sequence[int]:
        """Return the numbers that were printed as flushed."""
        self.printed += self.output.readouterr().out
        lines = map(json.loads, self.printed.splitlines())
        return [line["seqno"] for line in lines if line.get("flushed")]
