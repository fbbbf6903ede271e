"""The example of made-up records as a new user runs it, stopped half way: each record is there once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from copycat_testkit.kafka import unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = pytest.mark.timeout(300)

EXAMPLE = Path(__file__).parents[3] / "deploy" / "examples" / "made-up-orders.json"
ORDERS = 7000


@pytest.fixture
def orders(cluster: Cluster, rest: Rest) -> Callable[..., str]:
    """Start the example with more speed and an end, so that it can be waited for; returns name and topic."""

    def start(rate: int) -> str:
        name = unique("orders")
        written = json.loads(EXAMPLE.read_text("utf-8"))["config"]
        rest.create(name, {**written, "topic": name, "throughput": str(rate), "max.records": str(ORDERS)})
        wait_until(lambda: cluster.values(name), PATIENCE, "the first orders")
        return name

    return start


def all_of(cluster: Cluster, name: str) -> list[str]:
    wait_until(lambda: len(cluster.values(name)) >= ORDERS, PATIENCE, "all orders")
    return cluster.values(name)


def test_the_example_makes_each_order_once_though_it_is_stopped(
    cluster: Cluster, rest: Rest, orders: Callable[..., str]
) -> None:
    """Stopped, and resumed at another rate, it has made what a run without a stop makes."""
    stopped = orders(100)
    rest.ok("PUT", f"/connectors/{stopped}/stop")
    rest.wait(stopped, "STOPPED")
    assert len(cluster.values(stopped)) < ORDERS
    faster = {**rest.get(f"/connectors/{stopped}/config"), "throughput": "-1"}
    rest.configure(stopped, faster)
    rest.ok("PUT", f"/connectors/{stopped}/resume")
    whole = all_of(cluster, orders(-1))
    assert [json.loads(value)["id"] for value in whole] == list(range(1, ORDERS + 1))
    assert all_of(cluster, stopped) == whole
