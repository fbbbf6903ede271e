"""What compose made of the files: containers that are well, connectors that run, records that arrived."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import docker
from copycat_embedded.ports import free_ports
from docker.models.containers import Container

from tools.containers.compose import Shell
from tools.containers.engine import ROOT, Engine
from tools.containers.images import build_arguments
from tools.containers.kafka_image import kafka_image

COMPOSE: Final = ROOT / "deploy/compose"
#: However slow a busy machine makes it.
SECONDS: Final = 360.0
#: Prints the committed records that a topic has now, one a line; nothing where there is no such topic.
PRINT_RECORDS: Final = """
import sys
from confluent_kafka import Consumer, TopicPartition
consumer = Consumer({"bootstrap.servers": "kafka:9092", "group.id": "reader", "enable.partition.eof": True})
topic = consumer.list_topics(timeout=30).topics.get(sys.argv[1])
left = set(topic.partitions) if topic else set()
consumer.assign([TopicPartition(sys.argv[1], number, 0) for number in left])
while left:
    message = consumer.poll(30)
    if message is None:
        sys.exit("the topic could not be read to its end")
    if message.error() is None:
        print(message.value().decode())
    else:
        left.discard(message.partition())
"""
#: Kills all that runs in a container, but the shell that does it and the init that outlives it for a moment.
KILL_ALL: Final = ("sh", "-c", "kill -9 -1")


class Project:
    """Containers of one name of a project, and shells for those who use its clusters."""

    def __init__(self, engine: Engine, name: str) -> None:
        """Nothing starts; what a former run left is removed."""
        with engine.client() as client:
            built_with = build_arguments(client)
            more = {**built_with, "COPYCAT_COMMIT": built_with["COMMIT"], "KAFKA_IMAGE": kafka_image(client)}
        first, second = free_ports(2)
        secrets = dict.fromkeys(("COPYCAT_CLUSTER_SECRET", "COPYCAT_SPARK_SECRET"), "unset")
        variables = {**more, **secrets, "COPYCAT_SMALL_REST_PORT": str(second)}
        self.shell = Shell(engine, name, first, variables)
        """Types commands of a page, and asks the cluster of compose.yaml."""
        self.beside = Shell(engine, name, second, variables)
        """Asks the cluster of small.yaml."""
        self._name = name
        self._client = docker.DockerClient(engine.host)
        self.remove()

    def containers(self) -> dict[str, Container]:
        """Return every container, running or not, by its service."""
        found = self._client.containers.list(all=True, filters=self._mine)
        return {each.labels["com.docker.compose.service"]: each for each in found}

    def volumes(self) -> list[str]:
        """Return the names of the volumes."""
        return [str(each.name) for each in self._client.volumes.list(filters=self._mine)]

    def healthy(self, *services: str) -> bool:
        """Tell whether the health check of each service says that it is well.

        Raises:
            AssertionError: One has ended.
        """
        states = {name: container.attrs["State"] for name, container in self.containers().items()}
        assert not [state for state in states.values() if state["Status"] == "exited"], states
        return all(states.get(each, {}).get("Health", {}).get("Status") == "healthy" for each in services)

    def runs(self, service: str, *command: str) -> bytes | None:
        """Run a command in the container of a service; returns what it printed, None where it failed."""
        code, (said, _) = self.containers()[service].exec_run(list(command), demux=True)
        return (said or b"") if code == 0 else None

    def records(self, service: str, topic: str) -> list[str] | None:
        """Return the records of a topic, read in the container of a service; None where that failed."""
        said = self.runs(service, "python", "-c", PRINT_RECORDS, topic)
        return None if said is None else said.decode().splitlines()

    def remove(self) -> None:
        """Remove every container, network and volume of it."""
        files = " ".join(f"-f {file}" for file in sorted(COMPOSE.glob("*.yaml")) if file.name != "tls.yaml")
        self.shell.type(f"docker compose {files} down --volumes")

    def close(self) -> None:
        """Remove it all, and ask the engine no more."""
        self.remove()
        self._client.close()

    @property
    def _mine(self) -> Mapping[str, str]:
        return {"label": f"com.docker.compose.project={self._name}"}


@contextmanager
def project(engine: Engine, name: str) -> Iterator[Project]:
    """Give a project of which nothing is left in the end."""
    made = Project(engine, name)
    try:
        yield made
    finally:
        made.close()


def workers(shell: Shell, count: int) -> Sequence[str]:
    """Return the workers of all connectors and tasks, once so many of both run together; nothing before."""
    found: dict[str, Any] = shell.get("/connectors?expand=status") or {}
    parts = [
        part for each in found.values() for part in (each["status"]["connector"], *each["status"]["tasks"])
    ]
    well = len(parts) == count and all(part["state"] == "RUNNING" for part in parts)
    return [part["worker_id"].partition(":")[0] for part in parts] if well else []
