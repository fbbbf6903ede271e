"""Who is struck: the processes of a connector on Spark, and what they depend on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random
from typing import Final

import psutil
from copycat_testkit.counted_system import CountedSystem
from copycat_testkit.eventually import wait
from copycat_testkit.faults import frozen, kill, killed_broker
from copycat_testkit.processes import command_line, lives

ANSWER_SECONDS: Final = 200.0
#: How long the broker may stay away, at most.
AWAY_SECONDS: Final = 2.0
Strike = Callable[[CountedSystem, Random], None]


def drivers(system: CountedSystem) -> list[psutil.Process]:
    """Return the drivers of Spark."""
    below = psutil.Process(system.up.pid).children(recursive=True)
    return [each for each in below if "copycat_executor.driverhost" in command_line(each)]


def _drivers(system: CountedSystem) -> list[psutil.Process]:
    wait(lambda: bool(drivers(system)), ANSWER_SECONDS, "there is no driver")
    return drivers(system)


def _below(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return process.children(recursive=True)
    return []


def _is_java(process: psutil.Process) -> bool:
    return any("java" in word for word in command_line(process)[:1])


def _kill_drivers(system: CountedSystem, random: Random) -> None:
    del random
    kill(_drivers(system))


def _kill_jvms(system: CountedSystem, random: Random) -> None:
    del random
    kill([each for driver in _drivers(system) for each in _below(driver) if _is_java(each)])


def _kill_python_workers(system: CountedSystem, random: Random) -> None:
    """Kill one that Spark forked, below each driver: one slot ends, others go on."""
    for driver in _drivers(system):
        forked = [each for each in _below(driver) if not _is_java(each)]
        kill(random.sample(forked, min(1, len(forked))))


def _kill_executors(system: CountedSystem, random: Random) -> None:
    del random
    above = {each for driver in _drivers(system) for each in driver.parents()}
    kill([each for each in system.up.processes("executor") if each in above])


def _kill_broker(system: CountedSystem, random: Random) -> None:
    with killed_broker(system.broker):
        time.sleep(random.uniform(0, AWAY_SECONDS))  # the fault is that it is away


def _freeze_drivers(system: CountedSystem, random: Random) -> None:
    """Stop the drivers, with or without what is below them, until their executors have given them up."""
    found = _drivers(system)
    below = [each for driver in found for each in _below(driver)] if random.random() < 0.5 else []
    with frozen([*found, *below]):
        wait(lambda: not any(map(lives, found)), ANSWER_SECONDS, "a frozen driver is not given up")


def _freeze_worker(system: CountedSystem, random: Random) -> None:
    """Stop a whole worker until the other has a driver more; then it goes on, unaware of that."""
    driver = random.choice(_drivers(system))
    worker = next(each for each in system.workers() if driver in each)
    others = [each for each in drivers(system) if each not in worker]
    with frozen(worker):
        wait(
            lambda: any(each not in worker and each not in others for each in drivers(system)),
            ANSWER_SECONDS,
            "no other worker has another driver",
        )
        time.sleep(AWAY_SECONDS)  # the fault is that the new one works already


VICTIMS: Final[Mapping[str, Strike]] = {
    "kill drivers": _kill_drivers,
    "kill the drivers' JVMs": _kill_jvms,
    "kill Python workers": _kill_python_workers,
    "kill executors": _kill_executors,
    "kill broker": _kill_broker,
    "freeze drivers": _freeze_drivers,
    "freeze whole worker": _freeze_worker,
}
