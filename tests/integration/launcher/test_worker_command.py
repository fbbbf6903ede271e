"""`copycat-worker`: one role in this very process, or all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from copycat_embedded.ports import free_ports
from copycat_testkit.commands import COPYCAT_WORKER, Commands, wait_gone
from copycat_testkit.kafka import wait_until

ROLES = ("config", "offset", "status", "scheduler", "executor")


@pytest.fixture
def worker(tmp_path: Path) -> Path:
    """Write a worker's properties with ports of its own."""
    rest, *ports = free_ports(len(ROLES) + 1)
    lines = [f"{role}.listen=127.0.0.1:{port}" for role, port in zip(ROLES, ports, strict=True)]
    lines += ["services.in.one.process=false"]
    lines += [f"{name}.storage.topic={name}" for name in ("config", "offset", "status")]
    lines += [f"listeners=http://127.0.0.1:{rest}", "group.id=g", "key.converter=k", "value.converter=v"]
    file = tmp_path / "worker.properties"
    file.write_text("\n".join(lines))
    return file


@pytest.mark.row("K26-32")
def test_one_role_is_this_very_process(commands: Commands, worker: Path, journal: Any) -> None:
    command = commands.start(worker, "--role", "status", program=COPYCAT_WORKER)
    wait_until(lambda: journal.starts("status"), 20, "the status service")
    assert journal.starts("status") == [command.process.pid]
    assert command.end() == 0
    assert journal.drains() == ["status"]


def test_all_roles_are_supervised(commands: Commands, worker: Path, journal: Any) -> None:
    command = commands.start(worker, program=COPYCAT_WORKER)
    command.wait_ready()
    processes = command.tree()
    assert command.end() == 0
    wait_gone(processes)
    assert journal.drains()[:3] == ["gateway", "executor", "scheduler"]
