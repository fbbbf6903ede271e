"""SessionedProtocolIntegrationTest: what workers ask of each other is refused to everybody else."""

from __future__ import annotations

import httpx2
import pytest
from copycat_testkit.kafka import unique

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import Rest

pytestmark = pytest.mark.timeout(300)

FORGED = {
    "X-Connect-Authorization": "S2Fma2Flc3F1ZQ==",
    "X-Connect-Request-Signature-Algorithm": "HmacSHA256",
}


def test_ensure_internal_endpoint_is_secured(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """ensureInternalEndpointIsSecured: unsigned 400, wrongly signed 403, with or without the connector."""
    name = unique("internal")
    url = f"{cluster.up.url}/connectors/{name}/tasks"

    def answers() -> list[int]:
        return [httpx2.post(url, json=[], headers=each, timeout=60).status_code for each in ({}, FORGED)]

    assert answers() == [400, 403]
    rest.create(name, monitor.source(name))
    rest.runs(name)
    assert answers() == [400, 403]
    assert len(rest.get(f"/connectors/{name}/tasks")) == 1
