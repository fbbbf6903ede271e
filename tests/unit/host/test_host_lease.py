"""The lease of a host, on a clock made of numbers, with an alarm that is only noted.

When a host beats: often enough for its lease, and at moments that hosts share.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from math import inf

import grpc
import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat.host.v1 import host_service_pb2_grpc
from copycat_executor.taskhost import stream as module
from copycat_executor.taskhost.host_lease import NOTICE_SECONDS, HostLease
from copycat_executor.taskhost.spec import HostSpec
from copycat_executor.taskhost.stream import ControlStream, until_heartbeat


class World:
    def __init__(self) -> None:
        self.now = 100.0
        self.alarms: list[float] = []
        self.lease = HostLease(lambda: self.now, self.alarms.append)


def test_without_an_answer_nothing_ends() -> None:
    world = World()
    world.lease.asked(0)
    world.now = 1000.0
    assert not world.lease.runs_out()
    world.lease.end_within(1.0)
    assert world.alarms == []


def test_an_answer_counts_from_when_it_was_asked_for() -> None:
    world = World()
    world.lease.asked(0)
    world.now = 103.0
    world.lease.renewed(0, 4.0)
    assert world.alarms == [1.0]


def test_an_answer_that_is_read_too_late_ends_the_process_at_once() -> None:
    world = World()
    world.lease.asked(0)
    world.now = 110.0
    world.lease.renewed(0, 4.0)
    assert 0 < world.alarms[-1] < 0.1
    assert world.lease.runs_out()


def test_an_older_answer_shortens_nothing() -> None:
    world = World()
    for number in range(2):
        world.lease.asked(number)
        world.now += 1.0
    world.lease.renewed(1, 4.0)
    world.lease.renewed(0, 4.0)
    assert world.alarms == [3.0]


def test_of_very_many_heartbeats_without_an_answer_the_last_ones_count() -> None:
    world = World()
    for number in range(1000):
        world.lease.asked(number)
        world.now += 1.0
    world.lease.renewed(0, 2000.0)
    assert world.lease.left == inf
    world.lease.renewed(999, 4.0)
    assert world.alarms == [3.0]


def test_tasks_are_asked_to_end_before_the_process_is() -> None:
    world = World()
    world.lease.asked(0)
    world.lease.renewed(0, 4.0)
    world.now = 104.0 - NOTICE_SECONDS
    assert not world.lease.runs_out()
    world.now += 0.01
    assert world.lease.runs_out()


def test_an_end_comes_no_later_than_the_lease_and_is_called_off() -> None:
    world = World()
    world.lease.asked(0)
    world.lease.renewed(0, 4.0)
    world.lease.end_within(1.0)
    world.now = 103.5
    world.lease.end_within(1.0)
    world.lease.over()
    assert world.alarms == [4.0, 1.0, 0.5, 0.0]


def test_it_says_how_long_tasks_may_go_on() -> None:
    world = World()
    assert world.lease.left == inf
    world.lease.asked(0)
    world.lease.renewed(0, 4.0)
    world.now = 103.0
    assert world.lease.left == 1.0 - NOTICE_SECONDS
    world.now = 104.0
    assert world.lease.left < 0
    assert world.lease.runs_out()


@pytest.mark.parametrize(
    ("now", "left", "expected"),
    [
        (100.0, inf, 0.125),
        (100.0, 6.5, 2.0),
        (101.5, 6.5, 0.5),
        (100.0, 5.9, 0.5),
        (100.3, 5.9, 0.2),
    ],
    ids=[
        "no lease yet",
        "a lease of ten seconds that was not renewed for two",
        "the same moments for all hosts",
        "a lease of five seconds, or one that an answer was missed of",
        "moments of the short interval",
    ],
)
def test_beats_are_rare_while_three_fit_into_the_lease(now: float, left: float, expected: float) -> None:
    assert until_heartbeat(now, left) == pytest.approx(expected)


def test_a_lease_that_ends_before_the_next_beat_is_looked_at_when_it_ends() -> None:
    assert 0.3 < until_heartbeat(100.0, 0.3) < 0.32
    assert until_heartbeat(100.2, -1.0) == pytest.approx(0.3)


class Executor(host_service_pb2_grpc.HostServiceServicer):
    """Wants a heartbeat whenever it has heard one, three in all."""

    def __init__(self) -> None:
        self.heard: list[str | None] = []

    def Attach(
        self, request_iterator: Iterator[pb.AttachRequest], context: object
    ) -> Iterator[pb.AttachResponse]:
        del context
        for request in request_iterator:
            self.heard.append(request.WhichOneof("event"))
            if len(self.heard) > 3:
                return
            yield pb.AttachResponse(heartbeat_wanted=pb.HeartbeatWanted())


def test_a_heartbeat_that_is_wanted_comes_before_it_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FIRST_INTERVAL_SECONDS", 3600.0)
    world, executor, server = World(), Executor(), grpc.server(ThreadPoolExecutor(2))
    host_service_pb2_grpc.add_HostServiceServicer_to_server(executor, server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    stream = ControlStream(HostSpec("1", address, "token"), lambda: world.now, world.lease)
    try:
        assert list(stream.commands()) == []
    finally:
        stream.close()
        server.stop(None)
    assert executor.heard == ["hello", "heartbeat", "heartbeat", "heartbeat"]
