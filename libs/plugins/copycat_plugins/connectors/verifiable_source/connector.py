"""VerifiableSource: as many tasks as are allowed, each with a number."""

from __future__ import annotations

from copycat_plugins.connectors.numbered_source import NumberedSource
from copycat_plugins.connectors.verifiable_source.spec import CONFIG


class VerifiableSourceConnector(NumberedSource):
    """Numbers its tasks."""

    definition = CONFIG
