"""Connectors whose sources are not there: what an operator reads of each, until the source is there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from copycat_embedded.ports import free_ports
from copycat_testkit.commands import COPYCAT
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.postgres import SECRET, USER, Postgres
from copycat_testkit.system import CopycatUp

pytestmark = [pytest.mark.timeout(600), pytest.mark.long]

JDBC = "io.confluent.connect.jdbc.JdbcSourceConnector"
MIRROR = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
FILE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
LOGS = "copycat_plugins.connectors.log_source.connector.LogSourceConnector"
OBJECTS = "copycat_plugins.connectors.object_source.connector.ObjectSourceConnector"
DATABASE = "waited_for"
#: Fields of Kafka Connect and what comes after them.
OWN = ["state", "worker_id", "version", "since", "generation", "reason"]
#: A look, a notice after three seconds, a write; on a machine with much else to do.
PATIENCE = 120.0


@dataclass(frozen=True)
class Case:
    """A connector that cannot work yet."""

    name: str
    config: Mapping[str, str]
    health: str
    """How it is."""
    why: str
    """What it waits for, an expression: in its reason, its history and the log."""
    since: str = r"waits for \d+ s: "
    """What its reason says before that, of its task where it has one that waits; an expression too."""
    act: str = "waits"
    """What its history and the log call it."""
    task: bool = False
    """Whether a task waits, and not the connector itself."""


class Operator:
    """Looks at a running system as operators do."""

    def __init__(self, system: CopycatUp) -> None:
        """Look at this one."""
        self._system = system

    def create(self, case: Case) -> None:
        """Create its connector."""
        url = f"{self._system.url}/connectors/{case.name}/config"
        httpx2.put(url, json=dict(case.config), timeout=90).raise_for_status()

    def status(self, name: str) -> Any:
        """Return what REST says; nothing before there is a status."""
        reply = httpx2.get(f"{self._system.url}/connectors/{name}/status", timeout=60)
        return reply.json() if reply.is_success else None

    def acts(self, name: str) -> list[tuple[str, str, str]]:
        """Return what the history says Copycat did, with the part that it is about and why, newest first."""
        url = f"{self._system.url}/connectors/{name}/history?kind=act"
        found = httpx2.get(url, timeout=60).raise_for_status().json()["changes"]
        return [(each["what"], str(each.get("task", "")), each.get("reason") or "") for each in found]

    def shown(self, *words: str) -> str:
        """Return what a command prints."""
        command = [str(COPYCAT), *words, "--url", self._system.url]
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=100).stdout

    def lines(self, text: str, name: str) -> list[dict[str, Any]]:
        """Return the lines of the executor's log with this message about a connector."""
        log = (self._system.folder / "logs" / "executor.log").read_text().splitlines()
        found = [json.loads(line) for line in log if f'"{text}"' in line]
        return [line for line in found if line.get("connector") == name]

    def delete(self, case: Case) -> None:
        """Delete its connector."""
        httpx2.delete(f"{self._system.url}/connectors/{case.name}", timeout=90)


def check(operator: Operator, case: Case) -> None:
    """Wait until status, health, history and log say of a connector what they should."""

    def instance(status: Any) -> Any:
        return status["tasks"][0] if case.task else status["connector"]

    def told() -> Any:
        status = operator.status(case.name)
        if status is None or (case.task and not status["tasks"]):
            return None
        return status if re.match(case.since + case.why, instance(status).get("reason", "")) else None

    status = wait_until(told, PATIENCE, f"{case.name}: {case.why}")
    own = instance(status)
    assert own["state"] == "RUNNING"
    assert "trace" not in own
    assert [key for key in own if key != "id"] == OWN
    assert status["health"]["state"] == case.health
    assert re.search(case.since + case.why, status["health"]["reason"])
    assert SECRET not in json.dumps(status)

    def noted() -> Any:
        acts = operator.acts(case.name)
        return [each for each in acts if each[0] == case.act and re.search(case.why, each[2])]

    ((_, task, why), *_) = wait_until(noted, PATIENCE, f"{case.name} in the history")
    assert task == ("0" if case.task else "")
    kind = "task" if case.task else "connector"
    lines = operator.lines(f"{kind} {case.act}", case.name)
    assert ("WARN", why) in [(line["level"], line["why"]) for line in lines]
    for command in ("status", "describe"):
        assert re.search(case.why, operator.shown(command, case.name))


def is_well(operator: Operator, case: Case) -> None:
    """Wait until a connector is healthy, with its tasks, and its history says so."""

    def well() -> bool:
        status = operator.status(case.name)
        return bool(status["health"] == {"state": "healthy"} and status["tasks"])

    wait_until(well, PATIENCE, f"{case.name} is well: {operator.status(case.name)}")
    wait_until(lambda: operator.acts(case.name)[0][0] == "moves again", PATIENCE, "and its history says so")


@pytest.fixture
def absent() -> Iterator[Postgres]:
    """Give a server that does not run yet."""
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))  # below /tmp itself: the server's account looks there
    server = Postgres(folder)
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def own_database(server: Postgres) -> Iterator[psycopg.Connection]:
    """Make a database that other tests of this server do not see."""
    with psycopg.connect(server.conninfo, autocommit=True) as shared:
        shared.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        shared.execute(f"CREATE DATABASE {DATABASE}")
        try:
            with psycopg.connect(server.conninfo, dbname=DATABASE, autocommit=True) as own:
                yield own
        finally:
            shared.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


def jdbc(server: Postgres, name: str, tables: str, database: str = "postgres") -> dict[str, str]:
    return {
        "connector.class": JDBC,
        "connection.url": server.url(database),
        "connection.user": USER,
        "connection.password": SECRET,
        "mode": "bulk",
        "table.whitelist": tables,
        "table.poll.interval.ms": "1000",
        "connection.backoff.ms": "1000",
        "topic.prefix": f"{name}-",
    }


def cases(kafka: str, postgres: Postgres, absent: Postgres, folder: Path) -> dict[str, Case]:
    """Return a connector for each thing that may not be there."""
    (port,) = free_ports(1)
    twice, nobody, misspelt = unique("twice"), unique("nobody"), unique("misspelt")
    mirror, file, logs, objects = unique("mirror"), unique("file"), unique("logs"), unique("objects")
    clusters = {
        "source.cluster.alias": "primary",
        "target.cluster.alias": "backup",
        "source.cluster.bootstrap.servers": f"127.0.0.1:{port}",
        "target.cluster.bootstrap.servers": kafka,
        "admin.timeout.ms": "3000",
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
    }
    found = (
        Case(
            twice,
            jdbc(postgres, twice, "waiting_twice", DATABASE),
            "failed",
            "WrongSetting: Several tables have the same name, .*one_w.waiting_twice, two_w.waiting_twice",
            r"task_configs fails, \d+ tr(y|ies) in \d+ s: ",
            act="does not move",
        ),
        Case(
            nobody,
            jdbc(absent, nobody, "rows_w"),
            "degraded",
            "No server answers at " + re.escape(absent.url()),
        ),
        Case(
            misspelt,
            jdbc(postgres, misspelt, "waiting_oders", DATABASE),
            "degraded",
            r"table\.whitelist names what .* does not have, .*: waiting_oders",
        ),
        Case(
            mirror,
            {"connector.class": MIRROR, "topics": "orders", **clusters},
            "degraded",
            rf"(Cannot .* cluster|Cluster) primary \(127\.0\.0\.1:{port}\)",
        ),
        Case(
            file,
            {"connector.class": FILE, "file": str(folder / "in.txt"), "topic": file},
            "degraded",
            rf"file {folder}/in\.txt, which does not exist",
            task=True,
        ),
        Case(
            logs,
            {"connector.class": LOGS, "files": str(folder / "logs/*.log"), "topic": logs},
            "degraded",
            rf"what does not exist: folder {folder}/logs",
            task=True,
        ),
        Case(
            objects,
            {"connector.class": OBJECTS, "store.url": f"file://{folder}/objects", "topic": objects},
            "degraded",
            rf"folder file://{folder}/objects, which does not exist",
            task=True,
        ),
    )
    names = ("twice", "nobody", "misspelt", "mirror", "file", "logs", "objects")
    return dict(zip(names, found, strict=True))


def test_connectors_that_wait_say_so_until_what_they_wait_for_is_there(
    system: CopycatUp, kafka: str, postgres: Postgres, absent: Postgres, tmp_path: Path
) -> None:
    operator, made = Operator(system), cases(kafka, postgres, absent, tmp_path)
    with own_database(postgres) as database:
        for schema in ("one_w", "two_w"):
            database.execute(f"CREATE SCHEMA {schema}")
            database.execute(f"CREATE TABLE {schema}.waiting_twice (id int)")
        for case in made.values():
            operator.create(case)
        try:
            for case in made.values():
                check(operator, case)

            database.execute("DROP TABLE two_w.waiting_twice")
            database.execute("CREATE TABLE one_w.waiting_oders (id int)")
            absent.start()
            with psycopg.connect(absent.conninfo, autocommit=True) as other:
                other.execute("CREATE TABLE rows_w (id int)")
            (tmp_path / "in.txt").write_text("a line\n")
            for folder in ("logs", "objects"):
                (tmp_path / folder).mkdir()
            for name, case in made.items():
                if name != "mirror":
                    is_well(operator, case)

            httpx2.put(f"{system.url}/connectors/{made['mirror'].name}/stop", timeout=60).raise_for_status()
            wait_until(
                lambda: operator.status(made["mirror"].name)["health"] == {"state": "healthy"},
                PATIENCE,
                "who is stopped waits for nothing",
            )
        finally:
            for case in made.values():
                operator.delete(case)
