"""Source tasks that emit what a test says: on one real host and broker, and on a whole system over REST."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, TopicCollection
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType
from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_testkit.kafka import consume_all, unique, wait_until

from tests.integration.host.fake_executor import FakeExecutor
from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.rest import PATIENCE, Rest

AUTHOR = Path(__file__).parent / "author"
HOST = "host"
LOG = "host.log"
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as the broker describes it."""

    partitions: int
    replication_factor: int


def described(bootstrap: str, name: str) -> Topic:
    """Describe a topic that is there."""
    return _described(AdminClient({"bootstrap.servers": bootstrap}), name)


def _described(admin: AdminClient, name: str) -> Topic:
    found = admin.describe_topics(TopicCollection([name]))[name].result(SECONDS)
    return Topic(len(found.partitions), len(found.partitions[0].replicas))


class Bench:
    """Runs tasks and looks at topics; `client` says how the looking is done."""

    def __init__(self, executor: FakeExecutor, client: Mapping[str, str], folder: Path) -> None:
        self.executor = executor
        self.client = dict(client)
        self.folder = folder
        self.admin = AdminClient({**self.client})
        self._worker = dict(executor.worker)

    def emit(self, file: Path, *records: str) -> Path:
        """Have records emitted, each a topic, a blank and a value; or a topic only."""
        with file.open("a") as out:
            out.writelines(f"{record} v\n" if " " not in record else f"{record}\n" for record in records)
        return file

    def run(
        self,
        *records: str,
        config: Mapping[str, str] | None = None,
        worker: Mapping[str, str] | None = None,
        file: Path | None = None,
    ) -> pb.TaskRef:
        """Start a task that emits these records."""
        path = self.emit(file or self.folder / unique("emit"), *records)
        self.executor.worker = {**self._worker, **(worker or {})}
        own = {"name": unique("emitter"), "connector.class": "author.Emitter", "emit.files": str(path)}
        return self.executor.start(HOST, {**own, **(config or {})})

    def trace(self, ref: pb.TaskRef, seconds: float = SECONDS) -> str:
        """Wait until the task has failed; returns the trace."""
        return self.executor.wait_for_state(ref, types_pb2.STATE_FAILED, seconds).trace

    def created(self, name: str) -> Topic:
        """Wait until a topic is there."""
        return wait_until(lambda: self.described(name), SECONDS, f"topic {name} was created")

    def described(self, name: str) -> Topic | None:
        """Describe a topic, None when it is missing; never has it created."""
        try:
            return _described(self.admin, name)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                return None
            raise

    def configs(self, name: str) -> dict[str, str]:
        """Return the settings a topic does not have from its broker."""
        resource = ConfigResource(ResourceType.TOPIC, name)
        entries = self.admin.describe_configs([resource])[resource].result(SECONDS)
        return {key: entry.value for key, entry in entries.items() if entry.source == 1}

    def written(self, topic: str, count: int) -> list[str]:
        """Wait until a topic has so many records; returns their values."""
        read = wait_until(lambda: self._if_there(topic, count), SECONDS, f"{count} records in {topic}")
        return [(message.value() or b"").decode() for message in read]

    def log(self) -> str:
        """Return what the host wrote so far."""
        return (self.folder / LOG).read_text()

    def _if_there(self, topic: str, count: int) -> list[Message]:
        messages = consume_all(self.client["bootstrap.servers"], topic) if self.described(topic) else []
        return messages if len(messages) >= count else []


@contextlib.contextmanager
def bench(
    bootstrap: str,
    folder: Path,
    client: Mapping[str, str] | None = None,
    worker: Mapping[str, str] | None = None,
) -> Iterator[Bench]:
    """Run a host with its executor played; `client` is how to talk to the broker, `worker` is added to."""
    executor = FakeExecutor(bootstrap)
    executor.worker |= dict(worker or {})
    with (folder / LOG).open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "copycat_executor.taskhost", "-"],
            env={**os.environ, "PYTHONPATH": str(AUTHOR)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=log,
            text=True,
        )
    try:
        assert process.stdin is not None
        process.stdin.write(executor.spec(HOST).to_json())
        process.stdin.close()
        yield Bench(executor, {"bootstrap.servers": bootstrap, **(client or {})}, folder)
    finally:
        process.kill()
        process.wait()
        executor.vanish()


TEXT = "org.apache.kafka.connect.storage.StringConverter"


class System:
    """One system of one worker, its emitters and what it recorded."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder

    @property
    def rest(self) -> Rest:
        """The REST interface."""
        return self.cluster.rest

    def emit(self, name: str, *records: str, task: int = 0) -> None:
        """Have a task of an emitter emit records, each a topic, a blank and a value; or a topic only."""
        with (self.folder / f"{name}-{task}").open("a") as out:
            out.writelines(f"{record} v\n" if " " not in record else f"{record}\n" for record in records)

    def emitter(self, name: str = "", *records: str, **config: str) -> str:
        """Create an emitter, `a__b` in keys stands for `a.b`; returns its name."""
        name = name or unique("emitter")
        self.emit(name, *records)
        self.rest.create(name, self.emitter_config(name, **config))
        return name

    def emitter_config(self, name: str, **config: str) -> dict[str, str]:
        """Return the configuration of an emitter."""
        more = {"tasks.max": "1"} | {key.replace("__", "."): value for key, value in config.items()}
        files = ",".join(str(self.folder / f"{name}-{task}") for task in range(int(more["tasks.max"])))
        own = {"connector.class": "author.Emitter", "emit.files": files}
        return {**own, "key.converter": TEXT, "value.converter": TEXT, **more}

    def sink(self, name: str, **config: str) -> str:
        """Create a sink that writes lines into a file of its name; returns its name."""
        own = {"connector.class": "FileStreamSink", "file": str(self.folder / f"{name}.out")}
        more = {key.replace("__", "."): value for key, value in config.items()}
        self.rest.configure(name, {**own, "key.converter": TEXT, "value.converter": TEXT, **more})
        return name

    def topics(self, name: str) -> set[str]:
        """Return a connector's active topics."""
        found: dict[str, Any] = self.rest.get(f"/connectors/{name}/topics")
        return set(found[name]["topics"])

    def has_topics(self, name: str, *topics: str) -> None:
        """Wait until a connector's active topics are these."""
        wait_until(lambda: self.topics(name) == set(topics), PATIENCE, f"{name} uses {topics}")

    def statuses(self) -> list[tuple[str, bytes | None]]:
        """Return keys and values of the status topic, by partition."""
        read = consume_all(self.cluster.bootstrap, self.cluster.topic("status"))
        return [((message.key() or b"").decode(), message.value()) for message in read]

    def records_of(self, topic: str, connector: str) -> list[Any]:
        """Return what was recorded of a connector's use of a topic, oldest first; None is a tombstone."""
        key = f"status-topic-{topic}:connector-{connector}"
        return [
            None if value is None else json.loads(value) for each, value in self.statuses() if each == key
        ]


def reset(rest: Rest, name: str) -> tuple[int, bytes]:
    """Have a connector's active topics forgotten; returns status and body of the answer."""
    reply = rest.call("PUT", f"/connectors/{name}/topics/reset")
    return reply.status_code, reply.content


@contextmanager
def system(
    bootstrap: str, folder: Path, settings: Mapping[str, str] | None = None, **environment: str
) -> Iterator[System]:
    """Run a system with these worker properties and environment variables."""
    environment["PYTHONPATH"] = str(AUTHOR)
    with Cluster(bootstrap, folder / "data", 1, settings or {}, environment).running() as cluster:
        yield System(cluster, folder)


CREATION_DEFAULTS = {
    "topic.creation.default.partitions": "3",
    "topic.creation.default.replication.factor": "1",
}


def creation(**keys: str) -> dict[str, str]:
    """Return keys with defaults; `a__partitions="1"` stands for `topic.creation.a.partitions`."""
    return {
        **CREATION_DEFAULTS,
        **{
            "topic.creation." + name.replace("__", ".").replace("_", "."): value
            for name, value in keys.items()
        },
    }
