"""An executor that dies has its work taken over by another; connectors elsewhere notice nothing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx2
import pytest
from copycat_testkit.cluster import ROLES, Cluster
from copycat_testkit.kafka import unique, wait_until

from tests.plain_hosts import on_plain_hosts

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def cluster(kafka: str, tmp_path: Path) -> Iterator[Cluster]:
    """Two executors that nobody starts again: one that comes back at once keeps its work."""
    instances = dict.fromkeys(ROLES, 1) | {"executor": 2}
    with Cluster(tmp_path / "cluster", kafka, instances, environment=on_plain_hosts()) as running:
        yield running


def tasks(url: str, name: str) -> list[dict[str, str]]:
    reply = httpx2.get(f"{url}/connectors/{name}/status", timeout=30)
    found: list[dict[str, str]] = reply.json()["tasks"] if reply.status_code == 200 else []
    return found


def worker_of(url: str, name: str) -> str:
    """Return the worker that runs the connector's one task, or nothing while none does."""
    found = tasks(url, name)
    return found[0]["worker_id"] if found and found[0]["state"] == "RUNNING" else ""


@pytest.mark.row("K26-36", "K26-57")
def test_the_work_of_a_killed_executor_moves_when_its_lease_ends(cluster: Cluster, tmp_path: Path) -> None:
    (url,) = cluster.urls()
    names = [unique("takeover") for _ in range(2)]
    for name in names:
        (tmp_path / f"{name}.txt").write_text("first\n")
        config = {"connector.class": "FileStreamSource", "file": str(tmp_path / f"{name}.txt"), "topic": name}
        created = httpx2.post(f"{url}/connectors", json={"name": name, "config": config}, timeout=90)
        assert created.status_code == 201, created.text
    before = {name: wait_until(partial(worker_of, url, name), 60, "a running task") for name in names}
    assert set(before.values()) == set(cluster.addresses("executor")), "two connectors on two workers"
    lost, kept = names

    next(each for each in cluster.members["executor"] if each.address == before[lost]).kill()

    wait_until(lambda: worker_of(url, lost) == before[kept], 60, "the task moved")
    assert worker_of(url, kept) == before[kept]
