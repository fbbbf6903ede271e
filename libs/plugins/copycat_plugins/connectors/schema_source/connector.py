"""SchemaSource: as many tasks as are allowed, each with a number."""

from __future__ import annotations

from copycat_plugins.connectors.numbered_source import NumberedSource
from copycat_plugins.connectors.schema_source.spec import CONFIG


class SchemaSourceConnector(NumberedSource):
    """Numbers its tasks."""

    definition = CONFIG
