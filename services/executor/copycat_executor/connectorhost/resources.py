"""What the author code of connectors runs with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from copycat_connect.config.placeholders import Placeholders
from copycat_connect.plugin.registry import Plugins

from copycat_executor.connectorhost.query_checks import QueryChecks


@dataclass(frozen=True, slots=True)
class ConnectorResources:
    """What a connector's start and every question may need."""

    plugins: Plugins
    """What is installed."""
    placeholders: Placeholders
    """Resolves them."""
    queries: QueryChecks
    """Has queries checked by Spark; what transformations are initialized with."""
    worker: Mapping[str, str]
    """The worker's properties."""
