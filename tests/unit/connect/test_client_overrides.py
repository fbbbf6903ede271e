"""Which cluster a sink reads, and who asks for its group."""

from __future__ import annotations

import pytest
from copycat_connect.config.client_overrides import group_client, other_cluster, overrides_of

WORKER = {"bootstrap.servers": "home:1", "security.protocol": "SSL", "group.id": "connect", "tasks.max": "1"}
AWAY = {"consumer.override.bootstrap.servers": "away:1"}


@pytest.mark.parametrize(
    ("worker", "connector"),
    [
        ({}, {}),
        ({}, {"consumer.override.group.id": "g", "consumer.override.security.protocol": "SASL_SSL"}),
        ({}, {"consumer.override.bootstrap.servers": "home:1"}),
        ({"consumer.bootstrap.servers": "away:1"}, {"consumer.override.bootstrap.servers": "home:1"}),
    ],
)
def test_a_sink_of_the_workers_brokers_is_of_its_cluster(
    worker: dict[str, str], connector: dict[str, str]
) -> None:
    assert other_cluster(WORKER | worker, connector) is None
    assert group_client(WORKER | worker, connector) is None


def test_another_cluster_is_reached_as_the_consumer_says_and_not_as_the_worker_does() -> None:
    worker = WORKER | {"consumer.sasl.mechanism": "PLAIN", "consumer.ssl.key.password": "worker's"}
    connector = AWAY | {
        "consumer.override.ssl.key.password": "${file:a:b}",
        "consumer.override.group.id": "g",
    }
    expected = {"bootstrap.servers": "away:1", "sasl.mechanism": "PLAIN", "ssl.key.password": "${file:a:b}"}
    assert other_cluster(worker, connector) == expected
    assert group_client(worker, connector) == expected


def test_a_workers_own_consumers_may_read_another_cluster() -> None:
    worker = WORKER | {"consumer.bootstrap.servers": "away:1"}
    assert other_cluster(worker, {}) == {"bootstrap.servers": "away:1"}


def test_overrides_of_the_admin_client_come_last() -> None:
    admin = {"admin.override.bootstrap.servers": "third:1", "admin.override.request.timeout.ms": "500"}
    asked = {"bootstrap.servers": "third:1", "request.timeout.ms": "500"}
    assert group_client(WORKER, admin) == {"security.protocol": "SSL", **asked}
    assert group_client(WORKER, AWAY | admin) == asked


def test_the_overrides_of_a_connector_are_those_of_the_clients_asked_for() -> None:
    config = {"name": "a", **AWAY, "admin.override.client.id": "b", "producer.override.acks": "1"}
    assert overrides_of(config, ("consumer.override.",)) == AWAY
    assert overrides_of(config) == {**AWAY, "admin.override.client.id": "b"}
