"""Commands to a host, without Kafka."""

from __future__ import annotations

import logging
import threading

import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_testkit.kafka import wait_until

from tests.unit.host.host_world import FAILED, PAUSED, RUNNING, UNASSIGNED, QuietTask, World


def test_a_task_runs_until_it_is_stopped_and_says_its_version() -> None:
    world = World()
    ref = world.start()
    world.wait_for(RUNNING)

    world.stop(ref)

    world.wait_for(RUNNING, UNASSIGNED)
    assert (world.last().task, world.last().version) == (ref, "7")


def test_a_task_is_paused_and_resumed() -> None:
    world = World()
    ref = world.start()
    world.wait_for(RUNNING)

    world.set_state(ref, types_pb2.TARGET_STATE_PAUSED)
    world.wait_for(RUNNING, PAUSED)
    world.set_state(ref, types_pb2.TARGET_STATE_STARTED)

    world.wait_for(RUNNING, PAUSED, RUNNING)
    world.stop(ref)


def test_a_task_that_cannot_start_fails_alone() -> None:
    world = World()

    world.start("bad", broken="1")
    wait_until(lambda: world.states() == [FAILED])
    assert world.last().stage == "START"
    assert world.last().trace.startswith("ValueError: cannot start\n\tat start(")

    other = world.start("good")
    world.wait_for(FAILED, RUNNING)
    world.stop(other)


def test_stopping_a_task_that_ended_is_answered() -> None:
    world = World()

    world.stop(pb.TaskRef(connector="gone", start=4))

    assert world.states() == [UNASSIGNED]


def test_a_task_that_hangs_is_given_up_and_says_no_more() -> None:
    world = World()
    ref = world.start()
    world.wait_for(RUNNING)
    QuietTask.gate.clear()
    assert QuietTask.hanging.wait(60)

    world.stop(ref, timeout_ms=200)
    world.wait_for(RUNNING, FAILED)
    assert (world.last().stage, world.last().hangs, world.host.abandoned) == ("STOP", True, ("c-0",))
    assert world.finished.wait(60)

    said = len(world.said)
    QuietTask.gate.set()
    wait_until(lambda: not _alive("task-c-0"))
    assert len(world.said) == said


def test_a_shutdown_ends_all_tasks_and_the_stream() -> None:
    world = World()
    world.start("a")
    world.start("b")
    world.wait_for(RUNNING, RUNNING)

    world.host.obey(pb.AttachResponse(shutdown=pb.Shutdown(timeout_ms=60_000)))

    assert world.finished.wait(60)
    world.wait_for(RUNNING, RUNNING, UNASSIGNED, UNASSIGNED)


def test_without_its_executor_every_task_ends_soon() -> None:
    world = World()
    world.start()
    world.wait_for(RUNNING)

    world.host.lose_executor()

    assert not _alive("task-c-0")


@pytest.mark.parametrize(
    ("level", "number"),
    [
        ("OFF", 60),
        ("FATAL", logging.CRITICAL),
        ("WARN", logging.WARNING),
        ("TRACE", 5),
        ("ALL", 1),
        ("nonsense", logging.NOTSET),
    ],
)
def test_log_levels_have_javas_names(level: str, number: int) -> None:
    name = f"some.logger.{level}"

    World().host.obey(pb.AttachResponse(set_level=pb.SetLevel(logger=name, level=level)))

    assert logging.getLogger(name).level == number


def _alive(name: str) -> bool:
    return any(thread.name == name for thread in threading.enumerate())
