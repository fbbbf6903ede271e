"""standalone.yaml: one process within limits; killed, it goes on where the file of its offsets says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from copycat_testkit.kafka import wait_until

from tests.e2e.compose.project import COMPOSE, KILL_ALL, SECONDS, Project, project
from tools.containers.compose import command_above
from tools.containers.engine import Engine

pytestmark = pytest.mark.timeout(1800, func_only=True)

NAME = "standalone"
UP = command_above(COMPOSE / "standalone.yaml")


@pytest.fixture
def standalone(built: Engine) -> Iterator[Project]:
    with project(built, "copycat-e2e-standalone") as made:
        made.shell.type(UP)
        wait_until(lambda: made.healthy(NAME), SECONDS, "the standalone worker is healthy")
        yield made


def write(project: Project, line: str) -> None:
    """Add a line to the file that its connector reads."""
    assert project.runs(NAME, "sh", "-c", f"echo {line} >> /data/server.log") is not None


def committed(project: Project, position: int) -> bool:
    """Tell whether the file of offsets says that the connector has read so many bytes."""
    return f'"position":{position}'.encode() in (project.runs(NAME, "cat", "/data/standalone.offsets") or b"")


@pytest.mark.row("K26-59")
def test_it_goes_on_where_it_was_when_it_is_killed_and_when_its_container_is_made_anew(
    standalone: Project,
) -> None:
    def arrived(*lines: str) -> bool:
        return standalone.records(NAME, "server-log") == list(lines)

    write(standalone, "one")
    wait_until(lambda: arrived("one"), SECONDS, "a first record")
    wait_until(lambda: committed(standalone, 4), SECONDS, "its offset is in the file")

    killed = standalone.containers()[NAME]
    killed.exec_run(list(KILL_ALL))

    def restarted() -> bool:
        killed.reload()
        return bool(killed.attrs["RestartCount"] == 1 and killed.attrs["State"]["Running"])

    wait_until(restarted, SECONDS, "the engine has started it again")
    write(standalone, "two")
    wait_until(lambda: arrived("one", "two"), SECONDS, "the second record alone")
    wait_until(lambda: committed(standalone, 8), SECONDS, "its offset is in the file")

    killed.remove(force=True)
    standalone.shell.type(UP)
    assert standalone.containers()[NAME].id != killed.id
    write(standalone, "three")
    wait_until(lambda: arrived("one", "two", "three"), SECONDS, "the third record alone")
