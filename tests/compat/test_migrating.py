"""From Kafka Connect to Copycat, by the page: its commands, against a real Apache Kafka Connect.

A connector whose class is nowhere is written into the config topic: so one is there whose plugin was removed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner
from copycat_cli.errors import ExitCode
from copycat_connect.config.properties import format_properties, parse_properties
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_launcher.main import copycat
from copycat_testkit.commands import COPYCAT, COPYCAT_WORKER, Commands
from copycat_testkit.connect_peer import ConnectPeer
from copycat_testkit.kafka import produce, wait_until

from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(600), pytest.mark.long]

PAGE = Path(__file__).parents[2] / "MIGRATING.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WORKER = "copycat-worker worker.properties"
SEEN = "http://127.0.0.1:8083"
GROUP = "moving"
TOPICS = {"config": "configs", "offset": "offsets", "status": "status"}
WAIT_SECONDS = 120.0
ROLES = ("config", "offset", "status", "scheduler", "executor")
STRING = "org.apache.kafka.connect.storage.StringConverter"
PASSWORD = "hunter2-of-the-database"
LINES = 20
VERDICTS = {"copy": "runs", "lines": "differs", "odd": "differs", "orders": "missing"}


@dataclass(frozen=True)
class Moved:
    """A cluster of Kafka Connect with connectors, and a folder with its worker's file."""

    peer: ConnectPeer
    bootstrap: str
    folder: Path

    def run(self, command: str, *codes: int) -> str:
        """Run a command of the page in the folder; returns what it said on stdout."""
        done = subprocess.run(
            ["bash", "-ec", command.replace(SEEN, self.peer.url)],
            cwd=self.folder,
            env={**os.environ, "PATH": f"{COPYCAT.parent}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
        )
        assert done.returncode in codes, f"{command}\n{done.stdout}{done.stderr}"
        assert PASSWORD not in done.stdout + done.stderr
        return done.stdout

    def check(self, *words: str, code: int = 1) -> Any:
        """Return the judgement as programs read it; nothing where it ends with 2."""
        done = CliRunner().invoke(copycat, ["migrate", "check", *words, "-o", "json"])
        assert done.exit_code == code, done.output
        assert PASSWORD not in done.output
        return json.loads(done.stdout) if code < ExitCode.USAGE else None


def configs(folder: Path) -> dict[str, dict[str, str]]:
    (folder / "lines.txt").write_text("".join(f"line {number}\n" for number in range(LINES)))
    converters = {"key.converter": STRING, "value.converter": STRING}
    source = {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "file": str(folder / "lines.txt"),
        "topic": "lines",
        **converters,
    }
    sink = {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
        "file": str(folder / "copy.txt"),
        "topics": "lines",
        **converters,
    }
    partitioner = "org.apache.kafka.clients.producer.RoundRobinPartitioner"
    odd = {
        **source,
        "topic": "odd-lines",
        "producer.override.partitioner.class": partitioner,
        "password": PASSWORD,
    }
    return {"lines": source, "copy": sink, "odd": odd}


ORDERS = {
    "name": "orders",
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "value.converter": "com.example.ProtoConverter",
    "database.password": PASSWORD,
}


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moved]:
    folder = tmp_path_factory.mktemp("moving")
    settings = {"offset.flush.interval.ms": "1000"}
    with (
        EmbeddedKafka(folder / "kafka") as kafka,
        ConnectPeer(kafka.bootstrap, folder / "connect", group=GROUP, properties=settings) as peer,
    ):
        write_worker(folder)
        populate(peer.url, kafka.bootstrap, folder)
        yield Moved(peer, kafka.bootstrap, folder)


def write_worker(folder: Path) -> None:
    """Keep the file of the worker; what is added are the ports of this run, and one broker's replicas."""
    text = (folder / "connect" / "connect-distributed.properties").read_text(encoding="utf-8")
    ports = dict(zip(ROLES, free_ports(len(ROLES)), strict=True))
    own = {
        **{f"{role}.listen": f"127.0.0.1:{port}" for role, port in ports.items()},
        **{f"{role}.addresses": f"127.0.0.1:{port}" for role, port in ports.items()},
        "assignment.storage.replication.factor": "1",
    }
    (folder / "worker.properties").write_text(format_properties({**parse_properties(text), **own}))


def populate(url: str, bootstrap: str, folder: Path) -> None:
    with httpx2.Client(base_url=url, timeout=90) as rest:
        for name, config in configs(folder).items():
            wait_until(
                lambda name=name, config=config: (
                    rest.put(  # type: ignore[misc]  # bound at once
                        f"/connectors/{name}/config", json=config
                    ).is_success
                ),
                WAIT_SECONDS,
                f"{name} is created",
            )
        record = json.dumps({"properties": ORDERS}).encode()
        produce(bootstrap, f"{GROUP}-configs", [record], key=b"connector-orders")
        wait_until(lambda: rest.get("/connectors/orders").is_success, WAIT_SECONDS, "the workers know orders")
        for name in configs(folder):
            path = f"/connectors/{name}/offsets"
            wait_until(lambda path=path: offsets(rest, path), WAIT_SECONDS, f"offsets of {name}")  # type: ignore[misc]
        wait_until(lambda: states(rest) == STATES, WAIT_SECONDS, f"states {STATES}")


STATES = {"lines": "RUNNING", "copy": "RUNNING", "odd": "RUNNING", "orders": "FAILED"}


def states(rest: httpx2.Client) -> dict[str, str]:
    found = rest.get("/connectors", params={"expand": "status"}).json()
    settled = {name for name, parts in found.items() if name == "orders" or parts["status"]["tasks"]}
    return {name: found[name]["status"]["connector"]["state"] for name in settled}


def offsets(rest: httpx2.Client, path: str) -> Any:
    reply = rest.get(path)
    found = reply.json().get("offsets", []) if reply.is_success else []
    whole = [{"kafka_offset": LINES}, {"position": (len("line 0\n") * 10 + len("line 10\n") * 10)}]
    return found if [each["offset"] for each in found] in [[each] for each in whole] else None


def judged(found: Any) -> Any:
    """Return what must be the same however the cluster was read.

    Over REST Kafka Connect does not give the offsets of a connector whose class it does not have.
    """
    connectors = [
        {**each, "offsets": None} if each["name"] == "orders" else each for each in found["connectors"]
    ]
    return found["verdict"], found["counts"], connectors, found["worker"]


def test_rest_and_topics_give_the_same_verdict(moved: Moved) -> None:
    rest = ("--connect-url", moved.peer.url)
    over_rest = moved.check(*rest)
    assert {each["name"]: each["verdict"] for each in over_rest["connectors"]} == VERDICTS
    assert over_rest["counts"] == {"runs": 1, "differs": 2, "refused": 0, "missing": 1}
    keys = {each["name"]: [found["key"] for found in each["findings"]] for each in over_rest["connectors"]}
    assert keys["orders"] == ["connector.class", "value.converter", ""]
    assert set(keys["odd"]) == {"password", "file"}  # its partitioner is done here too
    partitions = {each["name"]: each["offsets"]["partitions"] for each in over_rest["connectors"]}
    assert partitions == {"copy": 1, "lines": 1, "odd": 1, "orders": None}

    kafka = ("--bootstrap-servers", moved.bootstrap)
    topics = {f"--{each}-topic": f"{GROUP}-{name}" for each, name in TOPICS.items()}
    by_topics = moved.check(*kafka, *(word for pair in topics.items() for word in pair))
    assert judged(by_topics) == judged(over_rest) == judged(moved.check(*kafka, "--group-id", GROUP))

    file = str(moved.folder / "worker.properties")
    by_file = moved.check(file)
    assert judged(by_file) == judged(moved.check(file, *rest))
    assert by_file["connectors"] == by_topics["connectors"]
    assert by_file["worker"]["verdict"] == "runs"


def test_a_topic_that_is_not_there_cannot_be_read(moved: Moved) -> None:
    moved.check("--bootstrap-servers", moved.bootstrap, "--config-topic", "nowhere", code=ExitCode.USAGE)


def test_the_five_steps_of_the_page_lead_from_one_to_the_other(moved: Moved, tmp_path: Path) -> None:
    commands = [line for block in BLOCK.findall(PAGE.read_text("utf-8")) for line in block.splitlines()]
    start = commands.index(WORKER)
    for command in commands[:start]:
        moved.run(command, *((1,) if " check " in command else (0,)))
    moved.peer.stop()
    runs = Commands(tmp_path, on_plain_hosts())
    try:
        worker = runs.start(moved.folder / "worker.properties", program=COPYCAT_WORKER)
        worker.wait_ready(WAIT_SECONDS)
        for command in commands[start + 1 :]:
            moved.run(command, 0)
        assert worker.end() == 0
    finally:
        runs.close()
    before, after = (
        json.loads((moved.folder / f"offsets-{when}.json").read_text()) for when in ("before", "after")
    )
    assert before == after
    assert len((moved.folder / "copy.txt").read_text().splitlines()) == LINES
