"""The quick start of deploy/README.md: every command of it, typed in its order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import docker
import pytest
from copycat_embedded.ports import free_ports
from copycat_testkit.kafka import wait_until

from tools.containers.compose import Shell, commands_of
from tools.containers.engine import ROOT, Engine
from tools.containers.images import build_arguments
from tools.containers.kafka_image import kafka_image

pytestmark = pytest.mark.timeout(1800)

PROJECT: Final = "copycat-e2e-compose"
PAGE: Final = ROOT / "deploy/README.md"
DOWN: Final = "docker compose -f deploy/compose/compose.yaml down"
SECONDS: Final = 240.0


@pytest.fixture
def shell(engine: Engine) -> Iterator[Shell]:
    """Give a shell with the base images that can be had; nothing of the project is left in the end."""
    with engine.client() as client:
        built_with = build_arguments(client)
        more = {**built_with, "COPYCAT_COMMIT": built_with["COMMIT"], "KAFKA_IMAGE": kafka_image(client)}
    shell = Shell(engine, PROJECT, free_ports(1)[0], {**more, "COPYCAT_CLUSTER_SECRET": "unset"})
    shell.type(f"{DOWN} --volumes")
    yield shell
    shell.type(f"{DOWN} --volumes")


def of_the_project(engine: Engine, kind: str) -> list[docker.models.resource.Model]:
    with engine.client() as client:
        found = {"label": f"com.docker.compose.project={PROJECT}"}
        if kind == "volumes":
            return list(client.volumes.list(filters=found))
        return list(client.containers.list(all=True, filters=found))


def all_are_healthy(engine: Engine) -> bool:
    found = [each.attrs["State"] for each in of_the_project(engine, "containers")]
    assert not [state for state in found if state["Status"] == "exited"], found
    return len(found) == 8 and all(state.get("Health", {}).get("Status") == "healthy" for state in found)


def all_run(shell: Shell) -> list[str]:
    """Return the workers of all tasks and connectors, once everything runs; nothing before."""
    found = shell.get("/connectors?expand=status") or {}
    parts = [
        part for each in found.values() for part in (each["status"]["connector"], *each["status"]["tasks"])
    ]
    well = len(parts) == 4 and all(part["state"] == "RUNNING" for part in parts)
    return [part["worker_id"] for part in parts] if well else []


def test_every_command_of_the_quick_start_does_what_it_says(engine: Engine, shell: Shell) -> None:
    secret, up, health, validate, apply, write, read, kill, start, down = commands_of(
        PAGE, "export COPYCAT_CLUSTER_SECRET"
    )
    shell.type(secret)
    shell.type(up)
    wait_until(lambda: all_are_healthy(engine), SECONDS, "all containers are healthy")
    assert '"healthy"' in shell.type(health)
    assert "lines-source" in shell.type(validate)
    shell.type(apply)
    wait_until(lambda: all_run(shell), SECONDS, "both connectors and their tasks run")

    shell.type(write)
    wait_until(lambda: arrived(shell, read), SECONDS, "the line has arrived")

    shell.type(kill)
    wait_until(
        lambda: {worker.partition(":")[0] for worker in all_run(shell)} == {"executor-1"},
        SECONDS,
        "all work is on executor-1",
    )
    shell.type(start)
    wait_until(
        lambda: "executor-2" in {worker.partition(":")[0] for worker in all_run(shell)},
        SECONDS,
        "executor-2 has work again",
    )

    shell.type(down)
    assert of_the_project(engine, "containers") == []
    assert len(of_the_project(engine, "volumes")) == 2


def arrived(shell: Shell, read: str) -> bool:
    try:
        return shell.type(read).strip() == "hello"
    except AssertionError:  # the file is not there yet
        return False
