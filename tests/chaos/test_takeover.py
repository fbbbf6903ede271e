"""Executors that die or freeze: others take their work over, and no start writes after its successor."""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

import httpx2
import pytest
from copycat_testkit.cluster import ROLES, Cluster
from copycat_testkit.kafka import consume_all, create_topic, unique, wait_until

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


AUTHOR = Path(__file__).with_name("author")
TASKS = 2
LEASE_MS = 8000
#: More than a batch, so that a start is seen to write on.
STEADY_LINES = 200
SECONDS = 90.0


class Signed:
    """A source and a sink, whose tasks sign what they write; both have a task on each of two workers."""

    def __init__(self, cluster: Cluster, kafka: str, folder: Path) -> None:
        self._kafka = kafka
        self._url = cluster.urls()[0]
        self.name = create_topic(kafka, unique("signed"), TASKS)
        self.file = folder / f"{self.name}.txt"
        self._create("source", {"connector.class": "signing.SigningSource", "topic": self.name})
        sink = {"connector.class": "signing.SigningSink", "topics": self.name, "file": str(self.file)}
        self._create("sink", sink)

    def workers(self) -> set[str]:
        """Return who runs the tasks, once all of them run."""
        found = []
        for kind in ("source", "sink"):
            reply = httpx2.get(f"{self._url}/connectors/{self.name}-{kind}/status", timeout=30)
            tasks = reply.json()["tasks"] if reply.status_code == 200 else []
            found += [task["worker_id"] for task in tasks if task["state"] == "RUNNING"]
        return set(found) if len(found) == 2 * TASKS else set()

    def written(self) -> list[str]:
        """Return the lines the sink has written so far."""
        return self.file.read_text().splitlines() if self.file.exists() else []

    def moved(self) -> bool:
        """Say whether the sink's task that moved has written for a while where it is now."""
        later = [
            sum(lines for start, lines in runs if start != runs[0][0])
            for runs in _runs(self.written()).values()
        ]
        return max(later, default=0) > STEADY_LINES

    def returned(self) -> list[str]:
        """Return what was written where a start wrote again after another had written in its place."""
        records = [(message.value() or b"").decode() for message in consume_all(self._kafka, self.name)]
        found = []
        for what, lines in (("records", records), ("lines", self.written())):
            for number, runs in _runs(lines).items():
                starts = [start for start, _ in runs]
                if len(set(starts)) < len(starts):
                    found.append(f"{what} of {number}: " + ", ".join(f"{n} by {start}" for start, n in runs))
        return found

    def _create(self, kind: str, config: dict[str, str]) -> None:
        body = {"name": f"{self.name}-{kind}", "config": {**config, "tasks.max": str(TASKS)}}
        reply = httpx2.post(f"{self._url}/connectors", json=body, timeout=90)
        assert reply.status_code == 201, reply.text


def _runs(lines: Iterable[str]) -> dict[str, list[tuple[str, int]]]:
    """Return for each number who signed it: the starts in their order, each with how many lines in a row."""
    by_number: defaultdict[str, list[str]] = defaultdict(list)
    for line in lines:
        number, _, start = line.partition(" ")
        by_number[number].append(start)
    return {
        number: [(start, len(list(run))) for start, run in groupby(starts)]
        for number, starts in by_number.items()
    }


@pytest.fixture(scope="module")
def two_workers(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(
        tmp_path_factory.mktemp("cluster"),
        kafka,
        dict.fromkeys(ROLES, 1) | {"executor": 2},
        {"worker.lease.ms": str(LEASE_MS)},
        {"PYTHONPATH": str(AUTHOR)},
    ) as running:
        yield running


@pytest.fixture(scope="module")
def signed(two_workers: Cluster, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Signed:
    return Signed(two_workers, kafka, tmp_path_factory.mktemp("signed"))


def spread(signed: Signed, cluster: Cluster) -> bool:
    return signed.workers() == set(cluster.addresses("executor"))


def written_on(signed: Signed, lines: int) -> bool:
    return len(signed.written()) >= lines


@pytest.mark.long
def test_no_task_of_a_frozen_executor_goes_on_beside_its_successor(
    two_workers: Cluster, signed: Signed
) -> None:
    wait_until(lambda: spread(signed, two_workers), SECONDS, "a task of each on both workers")
    frozen, other = two_workers.members["executor"]

    frozen.freeze()
    wait_until(lambda: signed.workers() == {other.address}, SECONDS, "the tasks moved")
    wait_until(signed.moved, SECONDS, "their successors write")
    frozen.thaw()
    wait_until(lambda: spread(signed, two_workers), SECONDS, "work on both workers again")
    goal = len(signed.written()) + STEADY_LINES
    wait_until(lambda: written_on(signed, goal), SECONDS, "it flows")

    assert signed.returned() == []


@pytest.mark.long
def test_no_task_of_a_killed_executor_goes_on_beside_its_successor(
    two_workers: Cluster, signed: Signed
) -> None:
    wait_until(lambda: spread(signed, two_workers), SECONDS, "a task of each on both workers")
    killed, other = two_workers.members["executor"]

    os.kill(killed.pid, signal.SIGKILL)  # its Spark and its hosts are left to themselves
    wait_until(lambda: signed.workers() == {other.address}, SECONDS, "the tasks moved")
    goal = len(signed.written()) + STEADY_LINES
    wait_until(lambda: written_on(signed, goal), SECONDS, "it flows")

    assert signed.returned() == []
