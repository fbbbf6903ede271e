"""The life of a host: it attaches, beats, drains, ends with its executor or its lease, and may be killed."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import psutil
import pytest
from copycat.types.v1 import types_pb2
from copycat_testkit.kafka import consume_all, create_topic, produce, unique

from tests.integration.host.conftest import HostProcess, Launch
from tests.integration.host.fake_executor import FILE, TOKEN, FakeExecutor

pytestmark = pytest.mark.long

UNASSIGNED = types_pb2.STATE_UNASSIGNED
LINES = 300_000


def config(kind: str, path: Path, topic: str) -> dict[str, str]:
    return {
        "name": unique(kind),
        "connector.class": f"{FILE}{kind}Connector",
        "file": str(path),
        "topic": topic,
        "topics": topic,
    }


def numbered(path: Path, count: int) -> Path:
    path.write_text("".join(f"{number:08d}{'x' * 100}\n" for number in range(count)))
    return path


def end(process: HostProcess) -> dict[str, object]:
    assert process.wait(60) == 0
    assert process.stdout is not None
    summary: dict[str, object] = json.loads(process.stdout.read())
    return summary


def test_a_host_introduces_itself_and_beats(executor: FakeExecutor, launch: Launch) -> None:
    process = launch("h")

    executor.wait(lambda: "h" in executor.hosts and executor.hosts["h"].beats >= 2, "two beats")

    hello = executor.hosts["h"].hello
    assert hello is not None
    assert (executor.hosts["h"].secret, hello.pid) == (f"Bearer {TOKEN}", process.pid)


def test_a_shutdown_drains_all_tasks_and_ends_the_host(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    process = launch("h")
    refs = [
        executor.start("h", config("Source", numbered(tmp_path / name, 10), topic)) for name in ("a", "b")
    ]
    executor.wait(lambda: len(executor.offsets) == 2, "two commits")

    executor.shut_down("h")

    for ref in refs:
        executor.wait_for_state(ref, UNASSIGNED)
    assert end(process) == {"host_id": "h", "reason": "shutdown", "tasks": 2, "abandoned": []}


def test_a_host_ends_soon_after_its_executor_and_commits_nothing(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    process = launch("h")
    executor.start("h", config("Source", numbered(tmp_path / "a", 10), topic))
    executor.wait(lambda: executor.offsets, "a commit")

    executor.vanish()

    assert end(process)["reason"] in {"executor lost", "stream ended"}


def test_a_task_that_hangs_is_given_up_and_its_neighbours_are_drained(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    process = launch("h")
    hanging = executor.start("h", {"name": unique("hangs"), "connector.class": "author.Hanging"})
    neighbour = executor.start("h", config("Source", numbered(tmp_path / "a", 10), topic))
    executor.wait_for_state(hanging, types_pb2.STATE_RUNNING)
    executor.wait(lambda: executor.offsets, "a commit")

    executor.stop("h", hanging, timeout_ms=500)
    given_up = executor.wait_for_state(hanging, types_pb2.STATE_FAILED)
    executor.shut_down("h")
    executor.wait_for_state(neighbour, UNASSIGNED)

    assert given_up.stage == "STOP"
    assert end(process)["abandoned"] == [f"{hanging.connector}-0"]


def kill_when(process: HostProcess, executor: FakeExecutor, moved: object) -> None:
    executor.wait(moved, "records on their way")  # type: ignore[arg-type]  # a condition
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_a_killed_source_host_loses_no_line(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    path = numbered(tmp_path / "in", LINES)
    # Small requests take their time, so that the kill comes between the first commit and the last line.
    slow = {"producer.override.batch.size": "4096", "producer.override.linger.ms": "0"}
    chosen = config("Source", path, topic) | slow
    size = f'{{"position":{path.stat().st_size}}}'.encode()
    first = launch("first")
    executor.start("first", chosen)
    kill_when(first, executor, lambda: executor.offsets)
    assert size not in executor.offsets.values()

    launch("second")
    executor.start("second", chosen)
    executor.wait(lambda: size in executor.offsets.values(), "the last offset", 60)

    numbers = {int((message.value() or b"")[:8]) for message in consume_all(kafka, topic)}
    assert numbers == set(range(LINES))


def test_a_killed_sink_host_loses_no_line(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    produce(kafka, topic, [b"%08d%s" % (number, b"x" * 100) for number in range(LINES)])
    path = tmp_path / "out"
    chosen = config("Sink", path, topic) | {"consumer.override.max.poll.records": "100"}
    first = launch("first")
    executor.start("first", chosen, {topic: 1})
    kill_when(first, executor, lambda: path.exists() and path.stat().st_size > 0)
    assert executor.positions.get((topic, 0), 0) < LINES

    launch("second")
    executor.start("second", chosen, {topic: 1})
    executor.wait(lambda: executor.positions.get((topic, 0)) == LINES, "the last position", 60)

    assert {int(line[:8]) for line in path.read_text().splitlines()} == set(range(LINES))


def test_an_idle_host_needs_next_to_nothing(
    kafka: str, executor: FakeExecutor, launch: Launch, tmp_path: Path
) -> None:
    topic = create_topic(kafka)
    process = launch("h")
    executor.start("h", config("Sink", tmp_path / "out", topic), {topic: 1})
    executor.wait(lambda: executor.hosts["h"].beats >= 1, "a beat")
    measured = psutil.Process(process.pid)
    before, beats = measured.cpu_times(), executor.hosts["h"].beats

    executor.wait(lambda: executor.hosts["h"].beats >= beats + 3, "three beats")

    after = measured.cpu_times()
    used = after.user + after.system - before.user - before.system
    assert used < 0.3


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
