"""An executor that dies has its work taken over by another; connectors elsewhere notice nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.system import CopycatUp

pytestmark = pytest.mark.timeout(300)

STRING = "org.apache.kafka.connect.storage.StringConverter"
LEASE_SECONDS = 5.0


@pytest.fixture
def system(tmp_path: Path) -> Iterator[CopycatUp]:
    options = ("--executors", "2")
    with (
        EmbeddedKafka(tmp_path / "kafka") as kafka,
        CopycatUp(tmp_path / "data", kafka.bootstrap, options=options) as up,
    ):
        yield up


def tasks(url: str, name: str) -> list[dict[str, str]]:
    reply = httpx.get(f"{url}/connectors/{name}/status", timeout=30)
    found: list[dict[str, str]] = reply.json()["tasks"] if reply.status_code == 200 else []
    return found


def worker_of(url: str, name: str) -> str:
    """Return the worker that runs the connector's one task, or nothing while none does."""
    found = tasks(url, name)
    return found[0]["worker_id"] if found and found[0]["state"] == "RUNNING" else ""


def test_the_work_of_a_killed_executor_moves_within_the_lease(system: CopycatUp, tmp_path: Path) -> None:
    names = [unique("takeover") for _ in range(2)]
    for name in names:
        (tmp_path / f"{name}.txt").write_text("first\n")
        config = {"connector.class": "FileStreamSource", "file": str(tmp_path / f"{name}.txt"), "topic": name}
        created = httpx.post(
            f"{system.url}/connectors",
            json={"name": name, "config": {**config, "value.converter": STRING}},
            timeout=90,
        )
        assert created.status_code == 201, created.text
    before = {
        name: wait_until(lambda name=name: worker_of(system.url, name), 60, "a running task")
        for name in names
    }
    assert len(set(before.values())) == 2, "two connectors on two workers"
    lost, kept = names

    system.executor(before[lost]).kill()

    wait_until(
        lambda: worker_of(system.url, lost) not in ("", before[lost]), 3 * LEASE_SECONDS, "the task moved"
    )
    assert worker_of(system.url, kept) == before[kept]
