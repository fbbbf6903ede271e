"""StandaloneWorkerIntegrationTest: one process, without a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from copycat_embedded.ports import free_ports
from copycat_testkit.commands import READY, Command, Commands
from copycat_testkit.kafka import unique, wait_until

from tests.integration.scenarios.cluster import ENVIRONMENT
from tests.integration.scenarios.monitors import STRING, TOLD, Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest
from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


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


def test_create_connector_with_stopped_initial_state(standalone: Standalone, monitor: Monitor) -> None:
    """testCreateConnectorWithStoppedInitialState: no task before the first resume."""
    rest, name = standalone.rest, unique("stopped")
    rest.create(name, monitor.source(name, tasks_max="2"), "STOPPED")
    rest.wait(name, "STOPPED")
    assert rest.get(f"/connectors/{name}")["tasks"] == []
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name, 2)
    rest.delete(name)


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
