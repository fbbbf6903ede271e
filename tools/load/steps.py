"""A cluster grows step by step, and is looked at after each."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import psutil
from copycat_testkit.system import CopycatUp

from tools.load.crowd import Crowd, Latency
from tools.load.roles import cores, memory

EXECUTORS: Final = 3
REST_SECONDS: Final = 20.0
#: What a growth leaves to be done is over by then: spares are launched, archives of classes are written.
SETTLE_SECONDS: Final = 15.0


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
    at_rest, held = cores(system, REST_SECONDS), memory(system)
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
