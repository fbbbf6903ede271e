"""Sinks of another Kafka cluster, which asks for a password (OffsetsApiIntegrationTest, KIP-458)."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.guarded.broker import PASSWORDS
from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.others import PARTITIONS, OtherCluster, committed
from tests.integration.scenarios.rest import PATIENCE, Rest
from tests.integration.scenarios.test_offsets_api import Offsets, fill, read

pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("group", [False, True], ids=["", "overridden_consumer_group_id"])
@pytest.mark.row("K875-31", "K875-T12")
def test_a_sink_of_another_cluster_reads_divides_and_commits_there(
    cluster: Cluster, rest: Rest, monitor: Monitor, other: OtherCluster, group: bool
) -> None:
    """TestGetSinkConnectorOffsetsDifferentKafkaClusterTargeted and its kin: alter and reset, too."""
    name = create_topic(cluster.bootstrap, partitions=1)
    produce(cluster.bootstrap, name, [b"at home"])
    other.fill(name, 10)
    config = monitor.sink(name, tasks_max="2") | other.overrides("consumer")
    group_id = unique("group") if group else f"connect-{name}"
    if group:
        config["consumer.override.group.id"] = group_id

    rest.create(name, config)
    offsets = Offsets(rest, name)
    offsets.become(read(name, *[10] * PARTITIONS))

    assert sorted(monitor.values()) == sorted(str(number) for number in range(10) for _ in range(PARTITIONS))
    assert len(monitor.counts("put")) == 2, "both tasks read"
    assert other.committed(group_id) == dict.fromkeys(range(PARTITIONS), 10)
    assert committed(AdminClient({"bootstrap.servers": cluster.bootstrap}), group_id) == {}
    offsets.turn("stop", "STOPPED")
    offsets.modify("PATCH", read(name, 3, None))
    assert other.committed(group_id) == {0: 3, 2: 10, 3: 10}
    offsets.modify("DELETE")
    assert other.committed(group_id) == {}
    offsets.turn("resume", "RUNNING", *["RUNNING"] * 2)
    wait_until(lambda: len(monitor.values()) == 20 * PARTITIONS, PATIENCE, "all records once more")
    for text in (rest.get(f"/connectors/{name}"), rest.get(f"/connectors/{name}/offsets")):
        assert PASSWORDS["admin"] not in str(text)


def test_offset_calls_follow_the_overrides_of_the_admin_client(
    cluster: Cluster, rest: Rest, monitor: Monitor, other: OtherCluster
) -> None:
    name = create_topic(cluster.bootstrap)
    fill(cluster.bootstrap, name, 1, 5)
    rest.create(name, monitor.sink(name))
    offsets = Offsets(rest, name)
    offsets.become(read(name, 5))
    offsets.turn("stop", "STOPPED")

    rest.configure(name, monitor.sink(name) | other.overrides("admin"))
    assert rest.get(f"/connectors/{name}/offsets") == {"offsets": []}, "the other cluster has no such group"
    wrong = {"admin.override.request.timeout.ms": "soon"}
    rest.configure(name, monitor.sink(name) | wrong)
    refused = rest.call("GET", f"/connectors/{name}/offsets")

    assert refused.status_code == 400
    assert "Invalid value soon for configuration request.timeout.ms" in refused.json()["message"]


def test_a_cluster_that_is_away_is_named_within_the_time_of_its_overrides(
    cluster: Cluster, rest: Rest, monitor: Monitor
) -> None:
    name = create_topic(cluster.bootstrap)
    away = {"admin.override.bootstrap.servers": "127.0.0.1:1", "admin.override.request.timeout.ms": "1000"}
    rest.create(name, monitor.sink(name) | away)

    refused = rest.call("GET", f"/connectors/{name}/offsets")

    assert refused.status_code == 503
    assert f"did not answer for consumer group connect-{name} within 1 s" in refused.json()["message"]
