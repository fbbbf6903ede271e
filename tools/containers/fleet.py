"""A whole Copycat in containers: brokers, several instances of each service, a Spark cluster if asked for."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2
from copycat_connect.cluster import GRPC_PORTS, REST_PORT
from copycat_testkit.cluster import OWNERS, ROLES, STRING, owner_of
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.serving import serves
from testcontainers.core.network import Network

from tools.containers.box import Box, network
from tools.containers.brokers import Brokers
from tools.containers.clocks import Clocks
from tools.containers.engine import Engine
from tools.containers.images import image_name
from tools.containers.spark_cluster import OWN_NAME, SparkCluster

BROKERS: Final = 3
INSTANCES: Final = {**dict.fromkeys(OWNERS, 2), "executor": 3, "gateway": 2}
#: Where executors have a disk of some megabytes, which they share.
SMALL: Final = "/small"
READY_SECONDS: Final = 240.0
REQUEST_SECONDS: Final = 60.0
MEMORY_MEGABYTES: Final = {**dict.fromkeys(OWNERS, 256), "executor": 1536, "gateway": 384}


@dataclass(frozen=True, slots=True)
class Shape:
    """What a fleet is made of."""

    instances: Mapping[str, int] = field(default_factory=lambda: INSTANCES)
    """How many of each role."""
    brokers: int = BROKERS
    spark_workers: int = 0
    """Machines of a Spark cluster that hosts run on; 0: they run beside their executor."""
    clocks: bool = False
    """The clock of each instance of an event-sourced service can be moved. Not that of executors: under the
    library Python waits for time by asking for a moment that is long past, which is refused."""
    version: str = ""
    """The images that it starts on; empty: those of this tree."""


class Fleet:
    """The containers by role; executors share the folder `data`, where connectors find and write files."""

    def __init__(self, engine: Engine, on: Network, folder: Path, shape: Shape) -> None:
        """Nothing starts yet."""
        self.group = unique("fleet")
        self.data = folder / "data"
        """Is `/data` in executors."""
        self.data.mkdir(parents=True)
        self.data.chmod(0o777)
        self.topics = [f"{self.group}-{suffix}" for suffix in STORED.values()]
        """Those of the logs."""
        self.brokers = Brokers(engine, on, folder, shape.brokers)
        self.spark = SparkCluster(engine, on, shape.spark_workers, {str(self.data): "/data"})
        """Has no workers unless asked for, and then does not start."""
        self.clocks = Clocks(engine, folder) if shape.clocks else None
        """Those of the event-sourced services, where they can be moved."""
        properties = folder / "worker.properties"
        more = self.spark.settings if shape.spark_workers else {}
        properties.write_text(worker_properties(self.group, self.brokers, more))
        properties.chmod(0o644)
        self._engine, self._on, self._properties = engine, on, properties
        self._secret = {"COPYCAT_CLUSTER_SECRET": secrets.token_hex(32)}
        self._disks = {str(self.data): "/data", engine.make_small_disk(): SMALL}
        self.members: Mapping[str, list[Box]] = {
            role: [
                self._member(role, f"{role}-{number}", shape.version)
                for number in range(1, shape.instances[role] + 1)
            ]
            for role in ROLES
        }
        """The instances of each role."""

    @property
    def urls(self) -> list[str]:
        """The roots of the REST interfaces, now; an instance that starts again has none for a moment."""
        addresses = [box.ip for box in self.members["gateway"]]
        return [f"http://{address}:{REST_PORT}" for address in addresses if address]

    @property
    def url(self) -> str:
        """The root of the REST interface of the last instance that has one now.

        Raises:
            AssertionError: None has.
        """
        urls = self.urls
        assert urls, "no gateway has an address"
        return urls[-1]

    @property
    def outside_address(self) -> str:
        """The address of this machine on their network."""
        return self.brokers.boxes[0].outside

    def start(self) -> None:
        """Start all of it, and wait until all of it serves."""
        self.brokers.start()
        if self.spark.workers:
            self.spark.start()
        everybody = [(role, box) for role in ROLES for box in self.members[role]]
        for _, box in everybody:
            box.start()
        for role, box in everybody:
            self.wait_serving(role, box)

    def replace(self, role: str, box: Box, version: str = "") -> Box:
        """Stop an instance, put one of another version in its place, and wait until that serves.

        Raises:
            AssertionError: The one before ended badly.
        """
        assert box.stop() == 0, f"{box.name} ended badly:\n{box.said()[-3000:]}"
        place = self.members[role].index(box)
        self.members[role].remove(box)  # those who ask meanwhile find nothing that is not there
        box.remove()
        made = self._member(role, box.name, version)
        made.start()
        self.members[role].insert(place, made)
        self.wait_serving(role, made)
        return made

    def serving(self, role: str, box: Box) -> bool:
        """Return whether an instance says that it serves."""
        port = REST_PORT if role == "gateway" else GRPC_PORTS[role]
        return serves(role, f"{box.ip}:{port}")

    def wait_serving(self, role: str, box: Box, seconds: float = READY_SECONDS) -> None:
        """Wait until an instance says that it serves."""
        wait_until(lambda: self.serving(role, box), seconds, f"{box.name} serves")

    def leader(self, role: str) -> Box:
        """Return the instance that the brokers say may write the log of a role."""
        return wait_until(lambda: self._leader(role), READY_SECONDS, f"a leader of {role}")

    def executor(self, worker_id: str) -> Box:
        """Return the executor that a status names."""
        name = worker_id.partition(":")[0]
        return next(box for box in self.members["executor"] if box.name == name)

    def create(self, name: str, config: Mapping[str, str]) -> None:
        """Create a connector, waiting while the cluster is busy or its leaders change."""

        def created() -> bool:
            reply = httpx2.put(
                f"{self.url}/connectors/{name}/config", json=dict(config), timeout=REQUEST_SECONDS
            )
            assert reply.status_code in {200, 201, 409, 503}, f"{reply.status_code}: {reply.text}"
            return reply.is_success

        wait_until(created, READY_SECONDS, f"{name} can be created")

    def delete(self, *names: str) -> None:
        """Delete connectors."""
        for name in names:
            httpx2.delete(f"{self.url}/connectors/{name}", timeout=REQUEST_SECONDS).raise_for_status()

    def ask(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """Send a request and return what it says; nothing where nothing good is said."""
        reply = httpx2.request(method, f"{self.url}{path}", json=body, timeout=REQUEST_SECONDS)
        return reply.json() if reply.is_success and reply.content else None

    def status(self, name: str) -> dict[str, Any]:
        """Return what REST says of a connector; nothing while it says nothing."""
        found: dict[str, Any] = self.ask("GET", f"/connectors/{name}/status") or {}
        return found

    def worker_of(self, name: str) -> str:
        """Return the worker that runs the first task of a connector, waiting until one does."""

        def found() -> str:
            tasks = self.status(name).get("tasks", [])
            return str(tasks[0]["worker_id"]) if tasks and tasks[0]["state"] == "RUNNING" else ""

        return wait_until(found, READY_SECONDS, f"{name} runs; its status: {self.status(name)}")

    def _member(self, role: str, name: str, version: str) -> Box:
        moved = self.clocks if role in OWNERS else None
        return Box(
            self._engine,
            self._on,
            name,
            image_name(role, version),
            files={
                self._properties: "/etc/copycat/worker.properties",
                **(self.clocks.files if self.clocks else {}),
            },
            environment={**self._secret, OWN_NAME: name, **(moved.environment(name) if moved else {})},
            memory_megabytes=MEMORY_MEGABYTES[role],
            aliases=[role],
            volumes=self._disks if role == "executor" else None,
        )

    def _leader(self, role: str) -> Box | None:
        owner = owner_of(role, self.group, self.brokers.outside)
        if owner is None:
            return None
        return next((box for box in self.members[role] if box.runs and _machine(box) == owner.machine), None)


def _machine(box: Box) -> str:
    """Return what the instances of logs in a container are named after."""
    said = box.run(
        "python", "-c", "from copycat_eventlog.identity import instance_name as name; print(name('it'))"
    )
    return said.strip().split(".")[-3]


@contextmanager
def running_fleet(engine: Engine, folder: Path, shape: Shape | None = None) -> Iterator[Fleet]:
    """Run it; the engine removes its containers and network with what else is left of a run."""
    try:
        fleet = Fleet(engine, network(engine).create(), folder, shape or Shape())
        try:
            fleet.start()
            yield fleet
        finally:
            _keep_output(fleet, folder)
    finally:
        engine.sweep()


def _keep_output(fleet: Fleet, folder: Path) -> None:
    members = (box for boxes in fleet.members.values() for box in boxes)
    for box in [*fleet.brokers.boxes, *fleet.spark.boxes, *members]:
        if box.started:
            (folder / f"{box.name}.log").write_text(box.said())


#: Nothing waits for a commit of a minute, or for a task that is slow to end.
QUICK: Final = {"offset.flush.interval.ms": "1000"}
STORED: Final = {"config": "configs", "offset": "offsets", "status": "status", "assignment": "assignments"}


def worker_properties(group: str, brokers: Brokers, more: Mapping[str, str]) -> str:
    """Return the text of the file: each service is known by one name that leads to all its instances."""
    replicas = min(3, len(brokers.boxes))
    settings = {
        "bootstrap.servers": brokers.inside,
        "group.id": group,
        "cluster.secret": "${env:COPYCAT_CLUSTER_SECRET}",
        "config.providers": "env",
        "config.providers.env.class": "EnvVarConfigProvider",
        "config.providers.env.param.allowlist.pattern": "COPYCAT_.*",
        "key.converter": STRING,
        "value.converter": STRING,
        **{f"{name}.storage.topic": f"{group}-{suffix}" for name, suffix in STORED.items()},
        **{f"{name}.storage.replication.factor": replicas for name in STORED},
        **{f"{role}.listen": f"0.0.0.0:{port}" for role, port in GRPC_PORTS.items()},
        "listeners": f"http://0.0.0.0:{REST_PORT}",
        **{f"{role}.addresses": f"{role}:{GRPC_PORTS[role]}" for role in OWNERS},
        **QUICK,
        **more,
    }
    return "".join(f"{key}={value}\n" for key, value in settings.items())
