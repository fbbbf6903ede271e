"""Suites that every connector passes.

Derive a test class from one, say how to feed the connector, and run pytest:
`class TestMyConnector(SourceConformance): ...`
"""

from copycat_testkit.conformance.contexts import (
    FakeConnectorContext,
    FakeSinkContext,
    FakeSourceContext,
    watch_calls,
)
from copycat_testkit.conformance.exactly_once_sink import ExactlyOnceSinkConformance
from copycat_testkit.conformance.sink import SinkConformance
from copycat_testkit.conformance.source import SourceConformance
from copycat_testkit.conformance.spec import SpecConformance

__all__ = [
    "ExactlyOnceSinkConformance",
    "FakeConnectorContext",
    "FakeSinkContext",
    "FakeSourceContext",
    "SinkConformance",
    "SourceConformance",
    "SpecConformance",
    "watch_calls",
]
