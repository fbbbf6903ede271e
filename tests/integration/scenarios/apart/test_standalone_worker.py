"""StandaloneWorkerIntegrationTest: one process, without a cluster; with files, connect_test of kafkatest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from copycat_embedded.ports import free_ports
from copycat_testkit.commands import READY, Command, Commands
from copycat_testkit.kafka import consume_all, create_topic, unique, wait_until

from tests.integration.scenarios.cluster import ENVIRONMENT
from tests.integration.scenarios.monitors import STRING, TOLD, LineFile, Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest
from tests.plain_hosts import on_plain_hosts

pytestmark = pytest.mark.timeout(300)

JSON = "org.apache.kafka.connect.json.JsonConverter"
CONVERTERS = {
    "schemas": {"value.converter": JSON, "value.converter.schemas.enable": "true"},
    "no-schemas": {"value.converter": JSON, "value.converter.schemas.enable": "false"},
    "strings": {"value.converter": STRING},
}


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    """Start commands; whatever still runs is killed at the end."""
    running = Commands(tmp_path, on_plain_hosts())
    yield running
    running.close()


@pytest.mark.row("K26-43", "K26-74", "K26-78")
def test_file_source_and_sink(commands: Commands, kafka: str, tmp_path: Path) -> None:
    """Lines reach the other file once with any converter, and go on where they were after a restart.

    Both forms of the command start a connector for each file (K26-74), all on their one worker (K26-78).
    """
    topics = {kind: create_topic(kafka) for kind in CONVERTERS}
    read = LineFile(tmp_path / "in.txt")
    written = {kind: LineFile(tmp_path / f"{kind}.txt") for kind in CONVERTERS}
    worker = tmp_path / "worker.properties"
    files = [worker]
    url = f"http://127.0.0.1:{free_ports(1)[0]}"
    worker.write_text(
        f"bootstrap.servers={kafka}\nkey.converter={STRING}\nvalue.converter={STRING}\n"
        f"listeners={url}\noffset.storage.file.filename={tmp_path / 'offsets'}\n"
    )
    for kind, converters in CONVERTERS.items():
        for way, config in (("in", read.source(topics[kind])), ("out", written[kind].sink(topics[kind]))):
            files.append(tmp_path / f"{kind}-{way}.properties")
            whole = {"name": unique(f"{kind}-{way}"), **config, **converters}
            files[-1].write_text("".join(f"{key}={value}\n" for key, value in whole.items()))
    lines: list[str] = []
    for part, verb in (("first", ()), ("second", ("standalone",))):
        more = [f"{part} {number}" for number in range(10)]
        lines += more
        read.append(more)
        process = commands.start(*verb, *files)
        rest = Rest(process.wait_ready(180))
        for file in written.values():
            file.holds(*lines)
        names = rest.get("/connectors")
        assert len(names) == len(files) - 1
        assert {each for name in names for each in rest.placed(name)} == rest.workers()
        assert len(rest.workers()) == 1
        assert process.end() == 0
    first = {kind: consume_all(kafka, topic)[0].value() for kind, topic in topics.items()}
    assert first == {
        "schemas": b'{"schema":{"type":"string","optional":false},"payload":"first 0"}',
        "no-schemas": b'"first 0"',
        "strings": b"first 0",
    }


@dataclass(frozen=True)
class Standalone:
    """A worker that runs, and how it was while a connector of its command line hung."""

    process: Command
    rest: Rest
    health_while_hanging: int
    said_while_hanging: str
    states_after: list[str] | None


@pytest.fixture(scope="module")
def standalone(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    """Start a worker with a connector that hangs in its start, look, let it go, wait until it is ready."""
    folder = tmp_path_factory.mktemp("standalone")
    name, url = unique("alone"), f"http://127.0.0.1:{free_ports(1)[0]}"
    worker, connector = folder / "worker.properties", folder / "connector.properties"
    converters = f"key.converter={STRING}\nvalue.converter={STRING}\n"
    offsets = f"offset.storage.file.filename={folder / 'offsets'}\n"
    worker.write_text(f"bootstrap.servers={kafka}\nlisteners={url}\n{converters}{offsets}")
    monitor = Monitor(folder / "monitor")
    config = {"name": name, **monitor.source(name)}
    connector.write_text("".join(f"{key}={value}\n" for key, value in config.items()))
    monitor.order("connector start blocks")
    rest, commands = Rest(url), Commands(folder, on_plain_hosts(ENVIRONMENT))
    process = commands.start("standalone", worker, connector)
    wait_until(lambda: monitor.entries("start blocked"), 120, "a connector that hangs")
    health, said = rest.call("GET", "/health").status_code, process.said()
    monitor.order()
    process.wait_ready(120)
    rest.runs(name)
    yield Standalone(process, rest, health, said, rest.states(name))
    assert process.end() == 0
    commands.close()


@pytest.mark.long
def test_dynamic_logging(standalone: Standalone, monitor: Monitor) -> None:
    """testDynamicLogging: the level of a name is that of all below it, in whatever scope it is set."""
    rest, name = standalone.rest, unique("logging")
    space, below = "copycat_gateway", "copycat_gateway.routes.loggers"
    assert rest.get(f"/admin/loggers/{below}")["last_modified"] is None
    modified = 0
    for scope, level in (("", "ERROR"), ("?scope=worker", "INFO"), ("?scope=cluster", "ERROR")):
        path = f"/admin/loggers/{space}{scope}"
        changed = rest.ok("PUT", path, {"level": level})
        assert changed is None if "cluster" in scope else {space, below} <= set(changed)
        shown = rest.get(f"/admin/loggers/{below}")
        assert shown["level"] == rest.get(f"/admin/loggers/{space}")["level"] == level
        assert shown["last_modified"] > modified
        rest.ok("PUT", path, {"level": level})
        assert rest.get(f"/admin/loggers/{below}") == shown
        modified = shown["last_modified"]

    rest.ok("PUT", "/admin/loggers/copycat_monitorable?scope=cluster", {"level": "DEBUG"})
    rest.create(name, monitor.source(name))
    wait_until(lambda: TOLD in standalone.process.said(), PATIENCE, "words of a task")
    rest.ok("PUT", "/admin/loggers/root?scope=cluster", {"level": "WARN"})
    rest.delete(name)


@pytest.mark.long
def test_create_connector_with_stopped_initial_state(standalone: Standalone, monitor: Monitor) -> None:
    """testCreateConnectorWithStoppedInitialState: no task before the first resume."""
    rest, name = standalone.rest, unique("stopped")
    rest.create(name, monitor.source(name, tasks_max="2"), "STOPPED")
    rest.wait(name, "STOPPED")
    assert rest.get(f"/connectors/{name}")["tasks"] == []
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name, 2)
    rest.delete(name)


@pytest.mark.long
def test_health_check(standalone: Standalone, monitor: Monitor) -> None:
    """testHealthCheck: a connector that hangs keeps the worker from being ready, not from being well.

    Kafka Connect's only thread waits for the connector, and its health says so. Here author code blocks
    nobody else: health is about requests; the line that says ready waits for the connectors that were given.
    """
    rest, name = standalone.rest, unique("hanging")
    assert standalone.health_while_hanging == 200
    assert READY not in standalone.said_while_hanging
    assert standalone.states_after == ["RUNNING", "RUNNING"]
    monitor.order("connector task configs blocks")
    rest.create(name, monitor.source(name))
    wait_until(lambda: monitor.entries("task configs blocked"), PATIENCE, "another connector that hangs")
    assert rest.succeeds("/health")
    monitor.order()
    rest.runs(name)
    rest.delete(name)
