"""The services of one cluster in processes of their own, and the workers that pretend.

The config topic may have so many connectors already before the services start.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psutil
from confluent_kafka import KafkaException, Producer
from copycat_config.adapters.codec import ConfigCodec
from copycat_config.domain.events import (
    ConfigEvent,
    ConnectorConfigured,
    TaskConfigured,
    TaskSetCommitted,
)
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.guard import Guard
from copycat_embedded.ports import LOOPBACK, free_ports
from copycat_eventlog.brokers import Brokers
from copycat_eventlog.settings import Backend, LogSettings
from copycat_eventlog.topics import ensure_log_topic
from copycat_rpc.services import Addresses
from copycat_testkit.cluster import OWNERS, Cluster
from copycat_testkit.processes import cpu_seconds, memory_mb

from tools.load.crowd import name_of
from tools.load.simulation.worker import CONNECTOR_CLASS, SNAPSHOT, TASKS, task_configs

WORKERS: Final = 3
#: What a busy machine may take to start everything.
START_SECONDS: Final = 300.0
_WRITE_SECONDS: Final = 120.0
_EVENTS_AT_A_TIME: Final = 1000
SERVICES: Final = ("config", "status", "scheduler", "gateway")
#: Lines of the services that say that something did not keep up, by what they are counted as.
TROUBLES: Final = {
    "workers lost": re.compile(r"worker is lost|worker died"),
    "joined again": re.compile(r"worker came back"),
    "snapshots that workers took": re.compile(SNAPSHOT),
}


class Plane:
    """One instance of each service, and three simulated workers."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self._folder = folder
        self._workers: dict[str, subprocess.Popen[bytes]] = {}
        self._guard = Guard()
        self.began = time.monotonic()
        """When its services were started."""
        self._names = [f"{LOOPBACK}:{port}" for port in free_ports(WORKERS)]

    @property
    def addresses(self) -> Addresses:
        """Where the services answer."""
        return Addresses(*(self.cluster.addresses(role) for role in OWNERS))

    def start(self) -> None:
        """Start everything; the gateway is well once a worker has joined."""
        self.began = time.monotonic()
        everybody = [member for role in (*OWNERS, "gateway") for member in self.cluster.members[role]]
        for member in everybody:
            member.start()
        for number in range(WORKERS):
            self.start_worker(number)
        for member in everybody:
            member.wait_serving(START_SECONDS)

    def start_worker(self, number: int) -> None:
        """Start a simulated worker, for the first time or again."""
        name = self._names[number]
        found = [self.cluster.addresses(role)[0] for role in OWNERS]
        with (self._folder / f"worker-{number}").open("ab") as log:
            self._workers[name] = subprocess.Popen(
                [sys.executable, "-m", "tools.load.simulation.worker", name, self.cluster.secret, *found],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._guard.watch(self._workers[name].pid)  # it ends with us, also when we are killed

    def kill_worker(self, number: int) -> str:
        """SIGKILL a worker; returns its name."""
        name = self._names[number]
        self._guard.forget(self._workers[name].pid)
        self._workers[name].kill()
        self._workers.pop(name).wait()
        return name

    def cpu_seconds(self) -> Mapping[str, float]:
        """Return the CPU time each role has used so far; that of a simulated worker is their mean."""
        pids = {role: self.cluster.members[role][0].pid for role in SERVICES}
        used = {role: sum(cpu_seconds([psutil.Process(pid)]).values()) for role, pid in pids.items()}
        mine = cpu_seconds(psutil.Process(worker.pid) for worker in self._workers.values()).values()
        return {**used, "a worker": sum(mine) / len(mine) if mine else 0.0}

    def memory_mb(self) -> Mapping[str, float]:
        """Return the proportional resident memory of each role."""
        pids = {role: self.cluster.members[role][0].pid for role in SERVICES}
        return {role: memory_mb([psutil.Process(pid)])[0] for role, pid in pids.items()}

    def troubles(self) -> Mapping[str, int]:
        """Count the lines of the services that say that something did not keep up."""
        logged = "".join(path.read_text(errors="replace") for path in self._logs())
        return {name: len(pattern.findall(logged)) for name, pattern in TROUBLES.items()}

    def _logs(self) -> Iterator[Path]:
        yield from self._folder.glob("output-*")
        yield from self._folder.glob("worker-*")

    def end(self) -> None:
        """End everything."""
        for worker in self._workers.values():
            worker.send_signal(signal.SIGTERM)
        for worker in self._workers.values():
            try:
                worker.wait(10)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        self._guard.close()
        self.cluster.stop()


@contextmanager
def plane(folder: Path, stored: int = 0) -> Iterator[Plane]:
    """Run the services on a broker of their own, and the workers; `stored` connectors are there before."""
    counts = {**dict.fromkeys((*OWNERS, "gateway"), 1), "executor": 0}
    with EmbeddedKafka(folder / "broker") as broker:
        running = Plane(Cluster(folder, broker.bootstrap, counts), folder)
        if stored:
            _store(broker.bootstrap, f"{running.cluster.group}-configs", stored)
        try:
            running.start()
            yield running
        finally:
            running.end()


def config(name: str) -> dict[str, str | None]:
    """Return the configuration of a simulated connector: eight keys, as connectors have on average."""
    return {
        "name": name,
        "connector.class": CONNECTOR_CLASS,
        "tasks.max": str(TASKS),
        "topic": f"{name}-records",
        "fields": '[{"name": "id", "type": "sequence"}]',
        "throughput": "0",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    }


def stored_events(connectors: int) -> Iterator[ConfigEvent]:
    """Yield what a compacted config topic says of so many connectors, each with its committed tasks."""
    for name in map(name_of, range(connectors)):
        yield ConnectorConfigured(name, config(name))
        for task, task_config in enumerate(task_configs(config(name))):
            yield TaskConfigured(name, task, task_config)
        yield TaskSetCommitted(name, TASKS)


def _store(bootstrap: str, topic: str, connectors: int) -> None:
    """Write the topic, in Kafka Connect's format and by the config service's codec.

    Raises:
        KafkaException: The broker did not take it.
    """
    client: dict[str, str | int | bool] = {"bootstrap.servers": bootstrap}
    settings = LogSettings(Backend.KAFKA, topic=topic, replication_factor=1)
    ensure_log_topic(Brokers(client, _WRITE_SECONDS), settings)
    producer, codec = Producer({**client, "acks": "all"}), ConfigCodec()
    for number, event in enumerate(stored_events(connectors), 1):
        record = codec.encode(event)
        producer.produce(topic, key=record.key, value=record.value)
        if number % _EVENTS_AT_A_TIME == 0:
            producer.flush(_WRITE_SECONDS)
    if left := producer.flush(_WRITE_SECONDS):
        raise KafkaException(f"{left} records of the config topic were not taken in {_WRITE_SECONDS:g} s")
