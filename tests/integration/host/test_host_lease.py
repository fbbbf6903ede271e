"""A host whose executor does not renew its lease ends, whatever its tasks do and whatever was done to it."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from copycat.types.v1 import types_pb2
from copycat_testkit.kafka import consume_all, create_topic, unique

from tests.integration.host.conftest import Launch
from tests.integration.host.fake_executor import FILE, FakeExecutor

pytestmark = pytest.mark.long

RUNNING = types_pb2.STATE_RUNNING
#: Beyond what a busy machine may keep a process waiting.
LEASE_MS = 8000
END_SECONDS = 60.0


@pytest.fixture
def leasing(executor: FakeExecutor) -> FakeExecutor:
    """An executor that renews leases."""
    executor.lease_ms = LEASE_MS
    return executor


def source(path: Path, topic: str) -> dict[str, str]:
    kind = {"connector.class": f"{FILE}SourceConnector", "file": str(path), "topic": topic}
    return {"name": unique("source"), **kind}


def test_a_host_lives_on_while_its_lease_is_renewed_and_ends_its_tasks_when_it_is_not(
    kafka: str, leasing: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    (tmp_path / "in").write_text("line\n")
    process = launch("h")
    ref = leasing.start("h", source(tmp_path / "in", create_topic(kafka)))
    leasing.wait_for_state(ref, RUNNING)
    beats = leasing.hosts["h"].beats
    leasing.wait(lambda: leasing.hosts["h"].beats > beats + 2 * LEASE_MS / 1000 / 0.5, "two leases", 120)
    assert process.poll() is None

    leasing.lease_ms = 0

    assert process.wait(END_SECONDS) in {0, -signal.SIGALRM}


def test_a_host_in_which_a_task_hangs_is_ended_by_its_kernel(leasing: FakeExecutor, launch: Launch) -> None:
    process = launch("h")
    hanging = leasing.start("h", {"name": unique("hangs"), "connector.class": "author.Hanging"})
    leasing.wait_for_state(hanging, RUNNING)

    leasing.lease_ms = 0

    assert process.wait(END_SECONDS) == -signal.SIGALRM


def test_a_frozen_host_writes_nothing_when_it_goes_on_after_its_lease(
    kafka: str, leasing: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic, file = create_topic(kafka), tmp_path / "in"
    file.write_text("before\n")
    process = launch("h")
    leasing.start("h", source(file, topic))
    leasing.wait(lambda: leasing.offsets, "a commit")

    process.send_signal(signal.SIGSTOP)
    with file.open("a") as out:
        out.write("while it was frozen\n")
    time.sleep(LEASE_MS / 1000)  # the time itself is what ends the lease
    process.send_signal(signal.SIGCONT)

    assert process.wait(END_SECONDS) == -signal.SIGALRM
    assert [message.value() for message in consume_all(kafka, topic)] == [b"before"]
