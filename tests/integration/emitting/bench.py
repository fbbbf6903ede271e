"""Source tasks on one real host and one real broker, each emitting what its test says."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaError, KafkaException, Message, TopicCollection
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType
from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_testkit.kafka import consume_all, unique, wait_until

from tests.integration.host.fake_executor import FakeExecutor

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
