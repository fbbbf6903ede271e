"""What the root says of the cluster."""

from __future__ import annotations

import httpx2
import pytest
from copycat_testkit.system import CopycatUp

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


def test_the_cluster_id_is_that_of_the_broker(system: CopycatUp) -> None:
    meta = (system.folder / "kafka" / "log" / "meta.properties").read_text().splitlines()
    cluster = next(line.removeprefix("cluster.id=") for line in meta if line.startswith("cluster.id="))

    assert httpx2.get(system.url, timeout=60).json()["kafka_cluster_id"] == cluster
