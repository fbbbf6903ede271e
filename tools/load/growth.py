"""A cluster grows step by step and is measured after each, then its connectors come, restart and go."""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import psutil
from copycat_testkit.processes import cpu_seconds, memory_mb
from copycat_testkit.system import CopycatUp

from tools.load.crowd import Crowd, Latency

EXECUTORS: Final = 3
REST_SECONDS: Final = 20.0
#: What a growth leaves to be done is over by then: spares are launched, archives of classes are written.
SETTLE_SECONDS: Final = 15.0
#: Processes of connectors count as the executor's; `host` are the task hosts, `spark` the driver's JVM.
_ROLES: Final = ("config", "offset", "status", "scheduler", "gateway", "executor", "spark", "host")


@dataclass(frozen=True, slots=True)
class Step:
    """What one size of cluster showed."""

    connectors: int
    defined: float
    """Connectors a second that REST took."""
    running: float
    """Seconds from the last of them until every task ran."""
    hosts: int
    """Processes that run tasks."""
    memory: Mapping[str, tuple[float, float]]
    """Resident and proportional MB by role."""
    cores: Mapping[str, float]
    """Shares of one core at rest, by role."""
    latencies: Mapping[str, Latency]
    """By what was asked."""
    lost: float
    """Seconds from the kill of an executor until every task ran elsewhere."""
    back: float
    """Seconds from then, while it starts again, until every task ran, spread evenly."""
    load: float
    """Of the machine, over a minute, at the end."""


def grow(system: CopycatUp, crowd: Crowd, connectors: int, say: Callable[[str], None]) -> Step:
    """Define connectors until there are so many, and measure that cluster."""
    defined = crowd.define(range(len(crowd.names), connectors))
    running = crowd.until_running()
    say(f"{connectors} connectors run {running:.1f} s after the last was defined")
    crowd.until_spread(EXECUTORS)
    time.sleep(SETTLE_SECONDS)
    at_rest, held = _cores(system, REST_SECONDS), _memory(system)
    latencies = crowd.latencies()
    crowd.until_running()
    lost, back = _lose_one(system, crowd)
    say(f"{connectors} connectors: an executor killed, all ran after {lost:.1f} s, spread after {back:.1f} s")
    hosts = len(system.processes("host"))
    return Step(
        connectors,
        defined,
        running,
        hosts,
        held,
        at_rest,
        latencies=latencies,
        lost=lost,
        back=back,
        load=os.getloadavg()[0],
    )


def _lose_one(system: CopycatUp, crowd: Crowd) -> tuple[float, float]:
    """Kill an executor, which the launcher starts again at once; returns both times."""
    worker = str(crowd.tasks()[0]["worker_id"])
    process: psutil.Process = system.executor(worker)
    began = time.monotonic()
    process.kill()
    crowd.until_moving(worker)
    crowd.until_running()
    lost = time.monotonic() - began
    return lost, crowd.until_spread(EXECUTORS)


@dataclass
class Memory:
    """Proportional memory by role, each time everything ran again."""

    minutes: list[float] = field(default_factory=list)
    """Minutes since churn began, one for each look."""
    changes: list[int] = field(default_factory=list)
    """Connectors created, deleted or restarted so far."""
    by_role: dict[str, list[float]] = field(default_factory=dict)
    """MB, one figure for each of `minutes`."""

    def slopes(self) -> Mapping[str, float]:
        """Return how much each role grows, in kB for each change; the first look warms."""
        if len(self.changes) < 3:
            return {}
        return {
            role: 1000 * statistics.linear_regression(self.changes[1:], found[1:]).slope
            for role, found in self.by_role.items()
        }


def churn(system: CopycatUp, crowd: Crowd, minutes: float, rounds: int, say: Callable[[str], None]) -> Memory:
    """Change connectors in so many rounds; all tasks run at the end of each."""
    found, began, changes = Memory(), time.monotonic(), 0
    dice = random.Random(0)  # noqa: S311 - the same run each time
    _look(system, found, 0.0, 0)
    for number in range(rounds):
        end = began + minutes * 60 * (number + 1) / rounds
        while time.monotonic() < end:
            for change in _changes(crowd, dice, changes):
                change()
                changes += 1
        crowd.until_running()
        _look(system, found, (time.monotonic() - began) / 60, changes)
        total = sum(each[-1] for each in found.by_role.values())
        say(f"churn: {found.minutes[-1]:.1f} min, {changes} changes, {total:.0f} MB")
    return found


def _changes(crowd: Crowd, dice: random.Random, number: int) -> Iterator[Callable[[], None]]:
    """Yield a deletion, a creation and two restarts."""
    known = sorted(crowd.names)
    gone, *others = dice.sample(known, min(3, len(known)))
    yield lambda: crowd.delete(gone)
    yield lambda: crowd.put(f"guest-{number:06d}")
    for each in others:
        yield lambda each=each: crowd.restart(each)  # type: ignore[misc]


def _look(system: CopycatUp, found: Memory, minutes: float, changes: int) -> None:
    found.minutes.append(minutes)
    found.changes.append(changes)
    for role, (_, proportional) in _memory(system).items():
        found.by_role.setdefault(role, []).append(proportional)


def _memory(system: CopycatUp) -> Mapping[str, tuple[float, float]]:
    """Return the resident and the proportional memory of each role, all its processes together, in MB."""
    found = {role: memory_mb(system.processes(role)) for role in _ROLES}
    return {role: (resident, proportional) for role, (proportional, resident) in found.items()}


def _cores(system: CopycatUp, seconds: float) -> Mapping[str, float]:
    """Return the share of one core each role uses while nobody asks for anything."""
    processes = {role: system.processes(role) for role in _ROLES}
    began = time.monotonic()
    before = {role: sum(cpu_seconds(found).values()) for role, found in processes.items()}
    time.sleep(seconds)  # the measurement is of time itself
    spent = time.monotonic() - began
    return {
        role: (sum(cpu_seconds(found).values()) - before[role]) / spent for role, found in processes.items()
    }
