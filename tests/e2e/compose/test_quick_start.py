"""The quick start of deploy/README.md: every command of it, typed in its order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from copycat_testkit.kafka import wait_until

from tests.e2e.compose.project import SECONDS, Project, project, workers
from tools.containers.compose import commands_of
from tools.containers.engine import ROOT, Engine

pytestmark = pytest.mark.timeout(1800, func_only=True)

PAGE: Final = ROOT / "deploy/README.md"
SERVICES: Final = (
    *("kafka", "config", "offset", "status", "scheduler", "gateway"),
    *("executor-1", "executor-2"),
)


@pytest.fixture
def quick_start(engine: Engine) -> Iterator[Project]:
    with project(engine, "copycat-e2e-compose") as made:
        yield made


def test_every_command_of_the_quick_start_does_what_it_says(quick_start: Project) -> None:
    secret, up, health, validate, apply, write, read, kill, start, down = commands_of(
        PAGE, "export COPYCAT_CLUSTER_SECRET"
    )
    shell = quick_start.shell
    shell.type(secret)
    shell.type(up)
    wait_until(lambda: quick_start.healthy(*SERVICES), SECONDS, "all containers are healthy")
    assert len(quick_start.containers()) == len(SERVICES)
    assert '"healthy"' in shell.type(health)
    assert "lines-source" in shell.type(validate)
    shell.type(apply)
    wait_until(lambda: workers(shell, 4), SECONDS, "both connectors and their tasks run")

    shell.type(write)
    wait_until(
        lambda: quick_start.runs("executor-1", "cat", read.split()[-1]) == b"hello\n",
        SECONDS,
        "the line has arrived",
    )
    assert shell.type(read).strip() == "hello"

    shell.type(kill)
    wait_until(lambda: set(workers(shell, 4)) == {"executor-1"}, SECONDS, "all work is on executor-1")
    shell.type(start)
    wait_until(lambda: "executor-2" in workers(shell, 4), SECONDS, "executor-2 has work again")

    shell.type(down)
    assert quick_start.containers() == {}
    assert len(quick_start.volumes()) == 2
