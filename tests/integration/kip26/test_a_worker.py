"""`copycat-worker` with the options of the distributed mode (K26-79)."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_embedded.ports import free_ports
from copycat_testkit.commands import COPYCAT_WORKER, Commands, wait_gone
from copycat_testkit.kafka import unique
from copycat_testkit.system import names

from tests.integration.kip26.modes import SETTINGS, START
from tests.integration.scenarios.rest import Rest
from tests.plain_hosts import on_plain_hosts

pytestmark = pytest.mark.timeout(300)
TOPICS = ("config", "offset", "status", "assignment")
ROLES = ("config", "offset", "status", "scheduler", "executor")


def test_k26_79_the_command_starts_one_worker_and_no_connector(kafka: str, tmp_path: Path) -> None:
    rest, *ports = free_ports(len(ROLES) + 1)
    addresses = {f"{role}.listen": f"127.0.0.1:{port}" for role, port in zip(ROLES, ports, strict=True)}
    known = {f"{key.removesuffix('listen')}addresses": address for key, address in addresses.items()}
    properties = {
        **SETTINGS,
        **names(unique("worker")),
        **{f"{topic}.storage.replication.factor": "1" for topic in TOPICS},
        **addresses,
        **known,
        "bootstrap.servers": kafka,
        "listeners": f"http://127.0.0.1:{rest}",
    }
    file = tmp_path / "worker.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    commands = Commands(tmp_path, on_plain_hosts())

    command = commands.start(file, program=COPYCAT_WORKER)
    copycat = Rest(command.wait_ready(START))

    assert copycat.get("/connectors") == []
    assert copycat.workers() == {addresses["executor.listen"]}
    processes = command.tree()
    assert command.end() == 0
    wait_gone(processes)
