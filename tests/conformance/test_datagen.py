"""Records that are made up pass the suite every source passes, with one stream and with several."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from copycat_connect.data import Struct
from copycat_connect.plugin import CONNECTORS, PluginSpec, load_plugins
from copycat_plugins.connectors.datagen_source.fields import Fields
from copycat_testkit.conformance import SourceConformance

FIELDS = [
    {"name": "id", "type": "sequence", "start": 7, "step": 2},
    {"name": "text", "type": "text", "pattern": "no. {id}"},
]


class TestDatagenSource(SourceConformance):
    """Records come by themselves, and are known beforehand."""

    def spec(self) -> PluginSpec:
        """Return the source."""
        return load_plugins().find("DatagenSource", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        """One record a poll, as fast as it goes."""
        return {"topic": "t", "fields": json.dumps(FIELDS), "throughput": "-1", "batch.size": "1"}

    def feed(self, numbers: range) -> Sequence[Struct]:
        """Return what the description says of these numbers."""
        schema = Fields.parse(json.dumps(FIELDS)).schema
        return [Struct(schema, {"id": 7 + 2 * n, "text": f"no. {7 + 2 * n}"}) for n in numbers]
