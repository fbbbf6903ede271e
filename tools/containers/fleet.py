"""A whole Copycat in containers: brokers, and several instances of each service."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
from copycat_connect.cluster import GRPC_PORTS, REST_PORT
from copycat_testkit.cluster import OWNERS, ROLES, STRING, owner_of
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.serving import serves
from testcontainers.core.network import Network

from tools.containers.box import Box, network
from tools.containers.brokers import Brokers
from tools.containers.engine import Engine
from tools.containers.images import image_name

BROKERS: Final = 3
INSTANCES: Final = {**dict.fromkeys(OWNERS, 2), "executor": 3, "gateway": 2}
#: Where executors have a disk of some megabytes, which they share.
SMALL: Final = "/small"
READY_SECONDS: Final = 240.0
REQUEST_SECONDS: Final = 60.0
MEMORY_MEGABYTES: Final = {**dict.fromkeys(OWNERS, 256), "executor": 1536, "gateway": 384}
#: Nothing waits for a commit of a minute, or for a task that is slow to end.
SETTINGS: Final = {"offset.flush.interval.ms": "1000"}


class Fleet:
    """The containers by role; executors share the folder `data`, where connectors find and write files."""

    def __init__(
        self, engine: Engine, on: Network, folder: Path, instances: Mapping[str, int], brokers: int
    ) -> None:
        """Nothing starts yet."""
        self.group = unique("fleet")
        self.data = folder / "data"
        """Is `/data` in executors."""
        self.data.mkdir(parents=True)
        self.data.chmod(0o777)
        self.brokers = Brokers(engine, on, folder, brokers)
        self._instances = instances
        properties = self._write(folder / "worker.properties")
        environment = {"COPYCAT_CLUSTER_SECRET": secrets.token_hex(32)}
        disks = {str(self.data): "/data", engine.make_small_disk(): SMALL}
        self.members: Mapping[str, Sequence[Box]] = {
            role: [
                Box(
                    engine,
                    on,
                    name,
                    image_name(role),
                    files={properties: "/etc/copycat/worker.properties"},
                    environment=environment,
                    memory_megabytes=MEMORY_MEGABYTES[role],
                    aliases=[role],
                    volumes=disks if role == "executor" else None,
                )
                for name in self._names(role)
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
        everybody = [(role, box) for role in ROLES for box in self.members[role]]
        for _, box in everybody:
            box.start()
        for role, box in everybody:
            self.wait_serving(role, box)

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
        """Create a connector, waiting while the cluster is busy."""

        def created() -> bool:
            reply = httpx.put(
                f"{self.url}/connectors/{name}/config", json=dict(config), timeout=REQUEST_SECONDS
            )
            assert reply.status_code in {200, 201, 409}, f"{reply.status_code}: {reply.text}"
            return reply.status_code != httpx.codes.CONFLICT

        wait_until(created, READY_SECONDS, f"{name} can be created")

    def delete(self, *names: str) -> None:
        """Delete connectors."""
        for name in names:
            httpx.delete(f"{self.url}/connectors/{name}", timeout=REQUEST_SECONDS).raise_for_status()

    def status(self, name: str) -> dict[str, Any]:
        """Return what REST says of a connector; nothing while it says nothing."""
        reply = httpx.get(f"{self.url}/connectors/{name}/status", timeout=REQUEST_SECONDS)
        found: dict[str, Any] = reply.json() if reply.is_success else {}
        return found

    def worker_of(self, name: str) -> str:
        """Return the worker that runs the first task of a connector, waiting until one does."""

        def found() -> str:
            tasks = self.status(name).get("tasks", [])
            return str(tasks[0]["worker_id"]) if tasks and tasks[0]["state"] == "RUNNING" else ""

        return wait_until(found, READY_SECONDS, f"{name} runs; its status: {self.status(name)}")

    def _leader(self, role: str) -> Box | None:
        owner = owner_of(role, self.group, self.brokers.outside)
        if owner is None:
            return None
        return next((box for box in self.members[role] if box.runs and _machine(box) == owner.machine), None)

    def _names(self, role: str) -> list[str]:
        return [f"{role}-{number}" for number in range(1, self._instances[role] + 1)]

    def _write(self, file: Path) -> Path:
        stored = {"config": "configs", "offset": "offsets", "status": "status", "assignment": "assignments"}
        replicas = min(3, len(self.brokers.boxes))
        settings = {
            "bootstrap.servers": self.brokers.inside,
            "group.id": self.group,
            "cluster.secret": "${env:COPYCAT_CLUSTER_SECRET}",
            "config.providers": "env",
            "config.providers.env.class": "EnvVarConfigProvider",
            "config.providers.env.param.allowlist.pattern": "COPYCAT_.*",
            "key.converter": STRING,
            "value.converter": STRING,
            **{f"{name}.storage.topic": f"{self.group}-{suffix}" for name, suffix in stored.items()},
            **{f"{name}.storage.replication.factor": replicas for name in stored},
            **{f"{role}.listen": f"0.0.0.0:{port}" for role, port in GRPC_PORTS.items()},
            "listeners": f"http://0.0.0.0:{REST_PORT}",
            # One name that leads to every instance.
            **{f"{role}.addresses": f"{role}:{GRPC_PORTS[role]}" for role in OWNERS},
            **SETTINGS,
        }
        file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        file.chmod(0o644)
        return file


def _machine(box: Box) -> str:
    """Return what the instances of logs in a container are named after."""
    said = box.run(
        "python", "-c", "from copycat_eventlog.identity import instance_name as name; print(name('it'))"
    )
    return said.strip().split(".")[-3]


@contextmanager
def running_fleet(
    engine: Engine, folder: Path, instances: Mapping[str, int] | None = None, brokers: int = BROKERS
) -> Iterator[Fleet]:
    """Run it; the engine removes its containers and network with what else is left of a run."""
    try:
        fleet = Fleet(engine, network(engine).create(), folder, {**INSTANCES, **(instances or {})}, brokers)
        try:
            fleet.start()
            yield fleet
        finally:
            _keep_output(fleet, folder)
    finally:
        engine.sweep()


def _keep_output(fleet: Fleet, folder: Path) -> None:
    for box in [*fleet.brokers.boxes, *(box for boxes in fleet.members.values() for box in boxes)]:
        if box.started:
            (folder / f"{box.name}.log").write_text(box.said())
