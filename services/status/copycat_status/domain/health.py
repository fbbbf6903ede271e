"""A connector and its tasks summed up, and why each of them is not plainly RUNNING."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from copycat_connect.cluster import Instance
from copycat_connect.error_text import shortened, trace_line

from copycat_status.domain.status import State, Status
from copycat_status.domain.trouble import MAX_TEXT_CHARACTERS, Trouble, TroubleKind, trouble_line

MAX_HEALTH_CHARACTERS = 1000
#: Said of a status that has no trace.
REASONS: Mapping[State, str] = {
    State.UNASSIGNED: "no worker runs it now",
    State.RESTARTING: "it is being restarted",
    State.PAUSED: "it was told to pause",
    State.STOPPED: "it was told to stop",
    State.FAILED: "its worker did not say why",
}
#: Whoever is paused or stopped waits for nothing.
RESTING = (State.PAUSED, State.STOPPED)
#: What is not well by itself, the worst first.
UNWELL = (State.FAILED, State.UNASSIGNED, State.RESTARTING)


class HealthLevel(Enum):
    """How a connector is."""

    HEALTHY = "healthy"
    """All of it does what it should."""
    DEGRADED = "degraded"
    """A part of it failed, is run by nobody, or does not move."""
    FAILED = "failed"
    """The connector itself failed, or cannot go on until somebody mends it, or all of its tasks failed."""


@dataclass(frozen=True, slots=True)
class HealthSummary:
    """A connector summed up."""

    level: HealthLevel
    reason: str = ""
    """Why it is not healthy, in one line."""


Troubles = Mapping[Instance, Trouble]


@dataclass(frozen=True, slots=True)
class Told:
    """What is shown of one instance."""

    state: State
    reason: str
    """Why it is not plainly RUNNING, in one line; empty where there is nothing to say."""
    stuck: bool
    """Whether something keeps it from moving."""
    lasting: bool = False
    """Whether that does not pass by itself."""


def told_of(status: Status, trouble: Trouble | None, now_ms: int) -> Told:
    """Return what is shown of an instance; no trouble older than its status or its failure."""
    if trouble is not None and _counts(trouble, status):
        return Told(status.state, trouble_line(trouble, now_ms), stuck=True, lasting=trouble.lasting)
    said = trace_line(status.trace or "") or REASONS.get(status.state, "")
    return Told(status.state, shortened(said, MAX_TEXT_CHARACTERS), stuck=False)


def health_of(own: Told, tasks: Mapping[int, Told]) -> HealthSummary:
    """Sum up a connector and its tasks."""
    parts = [] if _is_well(own) else [f"the connector is {own.state.value}: {own.reason}"]
    for state in UNWELL:
        parts += _part([n for n in tasks if tasks[n].state is state], tasks, state.value)
    stuck = [n for n, told in tasks.items() if told.stuck and told.state not in UNWELL]
    parts += _part(stuck, tasks, "not moving")
    if not parts:
        return HealthSummary(HealthLevel.HEALTHY)
    all_failed = bool(tasks) and all(told.state is State.FAILED for told in tasks.values())
    failed = own.state is State.FAILED or own.lasting or all_failed
    level = HealthLevel.FAILED if failed else HealthLevel.DEGRADED
    return HealthSummary(level, shortened("; ".join(parts), MAX_HEALTH_CHARACTERS))


def _counts(trouble: Trouble, status: Status) -> bool:
    if status.state is State.FAILED or trouble.generation < status.generation:
        return False
    return trouble.kind is not TroubleKind.WAITS or status.state not in RESTING


def _is_well(told: Told) -> bool:
    return told.state not in UNWELL and not told.stuck


def _part(chosen: Sequence[int], tasks: Mapping[int, Told], what: str) -> list[str]:
    """Say how many tasks are so, and why the first is."""
    if not chosen:
        return []
    first = chosen[0]
    return [f"{len(chosen)} of {len(tasks)} tasks {what}: task {first}: {tasks[first].reason}"]
