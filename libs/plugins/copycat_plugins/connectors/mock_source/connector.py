"""MockSource: one task, and a failure of the connector where it is ordered."""

from __future__ import annotations

from copycat_connect.plugin import SourceConnector

from copycat_plugins.connectors.ordered_connector import OrderedConnector


class MockSourceConnector(OrderedConnector, SourceConnector):
    """Fails when it is told to."""
