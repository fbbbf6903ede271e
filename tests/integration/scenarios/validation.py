"""Configurations that are validated, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import SINK, SOURCE

SINK_CONFIG: Final = {"connector.class": SINK, "name": "validated", "topics": "t", "monitor": "."}
SOURCE_CONFIG: Final = {"connector.class": SOURCE, "name": "validated", "topic": "t", "monitor": "."}
#: A key with no value is taken out.
WITHOUT: Final = ""


def errors(cluster: Cluster, config: Mapping[str, str]) -> int:
    """Return how many errors validation counts, and see that it counts those it lists."""
    given = {key: value for key, value in config.items() if value != WITHOUT}
    plugin = config["connector.class"]
    found = cluster.rest.ok("PUT", f"/connector-plugins/{plugin}/config/validate", given)
    listed = [error for each in found["configs"] for error in each["value"]["errors"]]
    assert found["error_count"] == len(listed), listed
    return len(listed)
