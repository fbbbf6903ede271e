"""Connectors summed up: why instances are not plainly RUNNING, and how long troubles are believed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from copycat.status.v1 import status_service_pb2 as pb
from copycat_connect.cluster import Instance
from copycat_status.adapters.server import FORGOTTEN_AFTER_SECONDS, TroublesNow
from copycat_status.domain.health import (
    MAX_HEALTH_CHARACTERS,
    HealthLevel,
    HealthSummary,
    Told,
    health_of,
    told_of,
)
from copycat_status.domain.status import State, Status
from copycat_status.domain.trouble import MAX_TEXT_CHARACTERS, Trouble, TroubleKind

RUNNING = Told(State.RUNNING, "", stuck=False)
TASK = Instance("orders", 0)


def failed(reason: str = "no") -> Told:
    return Told(State.FAILED, reason, stuck=False)


def trouble(kind: TroubleKind, text: str = "why", generation: int = 7) -> Trouble:
    return Trouble(TASK, kind, generation, since_ms=1000, call="put", tries=3, text=text)


def status(state: State, trace: str | None = None) -> Status:
    return Status(state, "h:1", 7, trace)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (TroubleKind.HANGS, "put has not returned for 41 s: why"),
        (TroubleKind.RETRIES, "put fails, 3 tries in 41 s: why"),
        (TroubleKind.WAITS, "waits for 41 s: why"),
    ],
)
def test_trouble_is_told_with_its_call_and_how_long_it_lasts(kind: TroubleKind, line: str) -> None:
    told = told_of(status(State.RUNNING), trouble(kind), now_ms=42_000)
    assert told == Told(State.RUNNING, line, stuck=True)


def test_who_was_told_to_rest_waits_for_nothing() -> None:
    for state in (State.PAUSED, State.STOPPED):
        told = told_of(status(state), trouble(TroubleKind.WAITS), now_ms=42_000)
        assert not told.stuck
        assert told_of(status(state), trouble(TroubleKind.HANGS), now_ms=42_000).stuck


def test_a_connector_that_cannot_go_on_until_somebody_mends_it_has_failed() -> None:
    lasting = replace(
        trouble(TroubleKind.RETRIES, "two tables of one name"), instance=Instance("orders"), lasting=True
    )
    own = told_of(status(State.RUNNING), lasting, now_ms=42_000)
    assert own.state is State.RUNNING
    assert health_of(own, {}) == HealthSummary(
        HealthLevel.FAILED,
        "the connector is RUNNING: put fails, 3 tries in 41 s: two tables of one name",
    )


def test_a_clock_that_is_behind_makes_no_negative_times() -> None:
    told = told_of(status(State.RUNNING), trouble(TroubleKind.WAITS), now_ms=0)
    assert told.reason == "waits for 0 s: why"


@pytest.mark.parametrize("state", [state for state in State if state is not State.RUNNING])
def test_every_state_but_running_has_a_reason(state: State) -> None:
    assert told_of(status(state), None, 0).reason


def test_a_reason_is_one_short_line() -> None:
    told = told_of(status(State.RUNNING), trouble(TroubleKind.HANGS, "a\nb " * 1000), 0)
    assert len(told.reason) == MAX_TEXT_CHARACTERS
    assert "\n" not in told.reason


def test_a_note_of_a_running_connector_does_not_make_it_worse() -> None:
    told = told_of(status(State.RUNNING, "tasks.max was limited"), None, 0)
    assert told.reason == "tasks.max was limited"
    assert health_of(told, {0: RUNNING}) == HealthSummary(HealthLevel.HEALTHY)


@pytest.mark.parametrize(
    ("own", "tasks", "level"),
    [
        (RUNNING, [], HealthLevel.HEALTHY),
        (RUNNING, [RUNNING], HealthLevel.HEALTHY),
        (
            Told(State.PAUSED, "told", stuck=False),
            [Told(State.PAUSED, "told", stuck=False)],
            HealthLevel.HEALTHY,
        ),
        (Told(State.STOPPED, "told", stuck=False), [], HealthLevel.HEALTHY),
        (RUNNING, [RUNNING, failed()], HealthLevel.DEGRADED),
        (RUNNING, [failed(), failed()], HealthLevel.FAILED),
        (failed(), [RUNNING], HealthLevel.FAILED),
        (RUNNING, [Told(State.UNASSIGNED, "no", stuck=False)], HealthLevel.DEGRADED),
        (RUNNING, [Told(State.RUNNING, "hangs", stuck=True)], HealthLevel.DEGRADED),
        (Told(State.RUNNING, "hangs", stuck=True), [], HealthLevel.DEGRADED),
    ],
)
def test_a_connector_is_as_well_as_its_parts(own: Told, tasks: list[Told], level: HealthLevel) -> None:
    assert health_of(own, dict(enumerate(tasks))).level is level


def test_the_reason_counts_the_tasks_and_gives_the_first_of_each_kind() -> None:
    hanging = Told(State.RUNNING, "put has not returned for 42 s: here", stuck=True)
    tasks = {0: RUNNING, 1: failed("a"), 2: failed("b"), 3: hanging}
    assert health_of(RUNNING, tasks).reason == (
        "2 of 4 tasks FAILED: task 1: a; 1 of 4 tasks not moving: task 3: put has not returned for 42 s: here"
    )


def test_the_reason_of_a_connector_is_bounded() -> None:
    assert len(health_of(failed("x" * 5000), {}).reason) == MAX_HEALTH_CHARACTERS


class Clock:
    """A clock that stands still."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def told(worker: str = "h:1", generation: int = 7, text: str = "here") -> pb.ReportTroublesRequest:
    trouble = pb.Trouble(
        connector="orders", task=0, generation=generation, kind=pb.TROUBLE_KIND_HANGS, text=text
    )
    return pb.ReportTroublesRequest(worker_id=worker, troubles=[trouble])


def test_what_is_not_repeated_is_forgotten() -> None:
    clock = Clock()
    troubles = TroublesNow(clock)
    troubles.tell(told())
    clock.now = FORGOTTEN_AFTER_SECONDS - 1
    assert TASK in troubles.now()
    troubles.tell(told())
    clock.now += FORGOTTEN_AFTER_SECONDS - 1
    assert TASK in troubles.now()
    clock.now += 1
    assert not troubles.now()


def test_a_worker_takes_back_what_it_said() -> None:
    troubles = TroublesNow(Clock())
    troubles.tell(told())
    troubles.tell(told("h:2", text="there"))
    troubles.tell(pb.ReportTroublesRequest(worker_id="h:1"))
    assert troubles.now()[TASK].text == "there"


def test_the_newest_generation_counts_whoever_spoke_last() -> None:
    troubles = TroublesNow(Clock())
    troubles.tell(told("h:2", generation=8, text="new"))
    troubles.tell(told("h:1", generation=7, text="old"))
    assert troubles.now()[TASK].text == "new"


def test_troubles_of_a_kind_that_is_not_known_are_left_out() -> None:
    troubles = TroublesNow(Clock())
    troubles.tell(pb.ReportTroublesRequest(worker_id="h:1", troubles=[pb.Trouble(connector="orders")]))
    assert not troubles.now()
