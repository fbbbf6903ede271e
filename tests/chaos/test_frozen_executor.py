"""Of two workers one is frozen, or killed: no start of a task writes again once its successor has written."""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import httpx2
import pytest
from copycat_testkit.cluster import ROLES, Cluster
from copycat_testkit.kafka import consume_all, create_topic, unique, wait_until

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

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
def cluster(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(
        tmp_path_factory.mktemp("cluster"),
        kafka,
        dict.fromkeys(ROLES, 1) | {"executor": 2},
        {"worker.lease.ms": str(LEASE_MS)},
        {"PYTHONPATH": str(AUTHOR)},
    ) as running:
        yield running


@pytest.fixture(scope="module")
def signed(cluster: Cluster, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Signed:
    return Signed(cluster, kafka, tmp_path_factory.mktemp("signed"))


def spread(signed: Signed, cluster: Cluster) -> bool:
    return signed.workers() == set(cluster.addresses("executor"))


def written_on(signed: Signed, lines: int) -> bool:
    return len(signed.written()) >= lines


def test_no_task_of_a_frozen_executor_goes_on_beside_its_successor(cluster: Cluster, signed: Signed) -> None:
    wait_until(lambda: spread(signed, cluster), SECONDS, "a task of each on both workers")
    frozen, other = cluster.members["executor"]

    frozen.freeze()
    wait_until(lambda: signed.workers() == {other.address}, SECONDS, "the tasks moved")
    wait_until(signed.moved, SECONDS, "their successors write")
    frozen.thaw()
    wait_until(lambda: spread(signed, cluster), SECONDS, "work on both workers again")
    goal = len(signed.written()) + STEADY_LINES
    wait_until(lambda: written_on(signed, goal), SECONDS, "it flows")

    assert signed.returned() == []


def test_no_task_of_a_killed_executor_goes_on_beside_its_successor(cluster: Cluster, signed: Signed) -> None:
    wait_until(lambda: spread(signed, cluster), SECONDS, "a task of each on both workers")
    killed, other = cluster.members["executor"]

    os.kill(killed.pid, signal.SIGKILL)  # its Spark and its hosts are left to themselves
    wait_until(lambda: signed.workers() == {other.address}, SECONDS, "the tasks moved")
    goal = len(signed.written()) + STEADY_LINES
    wait_until(lambda: written_on(signed, goal), SECONDS, "it flows")

    assert signed.returned() == []
