"""ConnectorTopicsIntegrationTest: the topics a connector uses are known (KIP-558).

testTopicTrackingIsDisabled is in `apart/test_connect_worker_outages.py`, whose system has it disabled;
testTopicTrackingResetIsDisabled in `switches/test_topic_switches.py`, for the same reason.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = pytest.mark.timeout(300)


def topics(rest: Rest, name: str) -> set[str]:
    """Return the active topics of a connector."""
    return set(rest.get(f"/connectors/{name}/topics")[name]["topics"])


def become(rest: Rest, name: str, *expected: str) -> None:
    """Wait until these are the active topics."""
    wait_until(lambda: topics(rest, name) == set(expected), PATIENCE, f"{name} uses {expected}")


def test_get_active_topics(cluster: Cluster, rest: Rest, tmp_path: Path) -> None:
    """testGetActiveTopics: of each its own, gone with it, and back after a reset when used again."""
    foo, bar = (create_topic(cluster.bootstrap, unique(name)) for name in ("foo", "bar"))
    sink = unique("sink")
    for name in (foo, bar, sink):
        become(rest, name)
    for name in (foo, bar):
        rest.create(name, Monitor(tmp_path / name).source(name))
        become(rest, name, name)
    rest.delete(bar)
    become(rest, bar)
    become(rest, foo, foo)

    monitor = Monitor(tmp_path / sink)
    rest.create(sink, monitor.sink(f"{foo},{bar}"))
    become(rest, sink, foo, bar)
    rest.ok("PUT", f"/connectors/{sink}/topics/reset")
    become(rest, sink)
    produce(cluster.bootstrap, foo, [b"new"])
    become(rest, sink, foo)
