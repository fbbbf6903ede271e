"""The systems under measurement: their broker, Copycat and Apache Kafka Connect, alone and as clusters.

The broker is as shipped, since a lean one holds both back. Here are also the calls of REST that a measurement
makes, and the connectors between files and topics that both have.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, Protocol

import httpx2
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.lock import JarSet
from copycat_embedded.ports import free_ports
from copycat_testkit.cluster import OWNERS, Cluster
from copycat_testkit.connect_peer import SHIPPED_JVM, ConnectPeer
from copycat_testkit.eventually import wait
from copycat_testkit.system import CopycatUp

STRING: Final = "org.apache.kafka.connect.storage.StringConverter"
_FILE: Final = "org.apache.kafka.connect.file.FileStream"
_ONE_TASK: Final = {"tasks.max": "1", "key.converter": STRING, "value.converter": STRING}
#: Connect keeps the work of a lost worker for five minutes by default; ours does not wait.
_NO_DELAY: Final = {"scheduled.rebalance.max.delay.ms": "0"}
#: What `kafka-server-start.sh` gives its JVM.
_JVM: Final = ("-Xmx1G", "-Xms1G", *SHIPPED_JVM)
#: Where the embedded broker has less than `config/server.properties` and Kafka's own defaults.
_KAFKA_SETTINGS: Final = {
    "num.network.threads": "3",
    "num.io.threads": "8",
    "background.threads": "10",
    "log.cleaner.dedupe.buffer.size": "134217728",
}


def shipped_kafka(folder: Path) -> EmbeddedKafka:
    """Return a broker that is not started yet; its data lies in `folder`."""
    return EmbeddedKafka(folder, settings=_KAFKA_SETTINGS, jvm=_JVM)


@contextmanager
def on_cores(count: int) -> Iterator[None]:
    """Have what is started meanwhile run on so many cores of this machine."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class System(Protocol):
    """A running Connect."""

    url: str
    pid: int
    ready_seconds: float

    def stop(self) -> None:
        """Stop it and wait for its end."""


class Copycat:
    """`copycat up` on a broker that is there, or on an embedded one of its own."""

    def __init__(
        self, folder: Path, bootstrap: str | None, properties: Mapping[str, str] | None = None
    ) -> None:
        """Start with these worker properties and wait until it says that it is ready."""
        began = time.monotonic()
        self._system = CopycatUp(folder, bootstrap, settings=properties).start()
        self.ready_seconds = time.monotonic() - began
        self.url, self.pid = self._system.url, self._system.pid

    def stop(self) -> None:
        """Drain and stop."""
        self._system.stop()


class Peer:
    """Apache Kafka Connect 4.4.0, one distributed worker with its shipped JVM settings."""

    def __init__(
        self,
        folder: Path,
        bootstrap: str,
        properties: Mapping[str, str] | None = None,
        jars: Sequence[JarSet] = ("connect",),
    ) -> None:
        """Start with these worker properties and plugins and wait until its REST interface answers."""
        began = time.monotonic()
        group = f"bench-peer-{time.time_ns()}"
        self._worker = ConnectPeer(
            bootstrap, folder, group=group, properties=properties, as_shipped=True, jars=jars
        )
        self.url = self._worker.start()
        self.ready_seconds = time.monotonic() - began
        self.pid = self._worker.process_id

    def stop(self) -> None:
        """Stop cleanly."""
        self._worker.stop()


class Fleet(Protocol):
    """A running cluster of several workers, of which some are killed and started again."""

    url: str
    """The REST interface of a worker that lives as long as the cluster."""

    def workers(self) -> list[str]:
        """Return the workers' names as statuses have them, the one that serves REST first."""

    def kill(self, number: int) -> None:
        """End the worker of this number, counted from 0, by SIGKILL."""

    def revive(self, number: int) -> None:
        """Start a killed worker again."""

    def stop(self) -> None:
        """End all processes of the cluster."""


class CopycatFleet:
    """One instance of each service, several executors."""

    def __init__(self, folder: Path, bootstrap: str, workers: int) -> None:
        """Start one of each service and so many executors (`workers`); wait until they serve."""
        counts = {**dict.fromkeys((*OWNERS, "gateway"), 1), "executor": workers}
        self._cluster = Cluster(folder, bootstrap, counts).start()
        self.url = self._cluster.urls()[0]

    def workers(self) -> list[str]:
        """Return the executors' names."""
        return self._cluster.addresses("executor")

    def kill(self, number: int) -> None:
        """SIGKILL an executor with its hosts."""
        self._cluster.members["executor"][number].kill()

    def revive(self, number: int) -> None:
        """Start an executor and wait until it has joined."""
        member = self._cluster.members["executor"][number]
        member.start()
        member.wait_serving()

    def stop(self) -> None:
        """End all processes of the cluster."""
        self._cluster.stop()


class PeerFleet:
    """Several workers of Apache Kafka Connect in one group."""

    def __init__(self, folder: Path, bootstrap: str, workers: int) -> None:
        """Start them one after the other: topics are made by the first."""
        ports = free_ports(workers)
        self._workers = [
            ConnectPeer(
                bootstrap,
                folder / f"worker-{port}",
                group="bench-fleet",
                port=port,
                properties=_NO_DELAY,
                as_shipped=True,
            )
            for port in ports
        ]
        for worker in self._workers:
            worker.start()
        self.url = self._workers[0].url

    def workers(self) -> list[str]:
        """Return the workers' names."""
        return [worker.url.removeprefix("http://") for worker in self._workers]

    def kill(self, number: int) -> None:
        """End the worker of this number, counted from 0, by SIGKILL."""
        self._workers[number].kill()

    def revive(self, number: int) -> None:
        """Start a worker and wait until it has joined."""
        self._workers[number].start()

    def stop(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.stop()


@contextmanager
def fleets(folder: Path, bootstrap: str, workers: int) -> Iterator[Mapping[str, Fleet]]:
    """Run both clusters of so many workers on one broker, `ours` and the `peer`."""
    with ExitStack() as stack:
        found: dict[str, Fleet] = {}
        for side, start in (("ours", CopycatFleet), ("peer", PeerFleet)):
            found[side] = start(folder / side, bootstrap, workers)
            stack.callback(found[side].stop)
        yield found


class Rest:
    """A Connect REST interface, ours or the peer's."""

    def __init__(self, url: str) -> None:
        self._client = httpx2.Client(base_url=url, timeout=60)

    def create(self, name: str, config: dict[str, str]) -> None:
        """Create a connector, waiting while a rebalance is under way."""

        def created() -> bool:
            reply = self._client.post("/connectors", json={"name": name, "config": config})
            if reply.status_code not in (201, 409):
                raise RuntimeError(f"creating {name} answered {reply.status_code}: {reply.text}")
            return reply.status_code == 201

        wait(created, 60, f"{name} could not be created")

    def running(self, name: str) -> bool:
        """Say whether the connector and at least one task run; a failed task ends the measurement."""
        return self._states(name) == {"RUNNING"}

    def _states(self, name: str) -> set[str]:
        """Return the states of a connector's tasks.

        Raises:
            RuntimeError: One has failed.
        """
        reply = self._client.get(f"/connectors/{name}/status")
        tasks = reply.json()["tasks"] if reply.status_code == 200 else []
        for task in tasks:
            if task["state"] == "FAILED":
                raise RuntimeError(f"{name} failed: {task.get('trace', '')[:400]}")
        return {task["state"] for task in tasks}

    def worker_of(self, name: str) -> str:
        """Return the worker that runs the connector's first task; empty while none does."""
        reply = self._client.get(f"/connectors/{name}/status")
        tasks = reply.json()["tasks"] if reply.status_code == 200 else []
        return str(tasks[0]["worker_id"]) if tasks and tasks[0]["state"] == "RUNNING" else ""

    def pause(self, name: str) -> None:
        """Pause a connector."""
        self._client.put(f"/connectors/{name}/pause").raise_for_status()

    def pause_and_wait(self, name: str) -> None:
        """Pause a connector, and wait until its tasks have ended what they were at."""
        self.pause(name)
        wait(lambda: self._states(name) == {"PAUSED"}, 60, f"{name} does not pause")

    def resume(self, name: str) -> None:
        """Resume a connector."""
        self._client.put(f"/connectors/{name}/resume").raise_for_status()

    def delete(self, name: str) -> None:
        """Delete a connector and wait until its status is gone."""
        wait(
            lambda: self._client.delete(f"/connectors/{name}").status_code in (204, 404), 60, f"{name} stayed"
        )
        wait(
            lambda: self._client.get(f"/connectors/{name}/status").status_code == 404,
            60,
            f"{name} kept a status",
        )


def file_source(file: Path, topic: str) -> dict[str, str]:
    """Return a source of one task, from a file to a topic."""
    return {**_ONE_TASK, "connector.class": f"{_FILE}SourceConnector", "file": str(file), "topic": topic}


def file_sink(file: Path, topic: str) -> dict[str, str]:
    """Return a sink of one task, from a topic to a file."""
    return {**_ONE_TASK, "connector.class": f"{_FILE}SinkConnector", "file": str(file), "topics": topic}
