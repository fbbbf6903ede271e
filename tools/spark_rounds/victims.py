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


def _driver(system: CountedSystem) -> psutil.Process:
    wait(lambda: bool(drivers(system)), ANSWER_SECONDS, "there is no driver")
    return drivers(system)[0]


def _below(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return process.children(recursive=True)
    return []


def _is_java(process: psutil.Process) -> bool:
    return any("java" in word for word in command_line(process)[:1])


def _kill_driver(system: CountedSystem, random: Random) -> None:
    del random
    kill([_driver(system)])


def _kill_jvm(system: CountedSystem, random: Random) -> None:
    del random
    kill([each for each in _below(_driver(system)) if _is_java(each)])


def _kill_python_worker(system: CountedSystem, random: Random) -> None:
    forked = [each for each in _below(_driver(system)) if not _is_java(each)]
    kill(random.sample(forked, min(1, len(forked))))


def _kill_executor(system: CountedSystem, random: Random) -> None:
    del random
    driver = _driver(system)
    kill([each for each in driver.parents() if each in system.up.processes("executor")])


def _kill_broker(system: CountedSystem, random: Random) -> None:
    with killed_broker(system.broker):
        time.sleep(random.uniform(0, AWAY_SECONDS))  # the fault is that it is away


def _freeze_driver(system: CountedSystem, random: Random) -> None:
    """Stop the driver, with or without what is below it, until its executor has given it up."""
    driver = _driver(system)
    below = _below(driver) if random.random() < 0.5 else []
    with frozen([driver, *below]):
        wait(lambda: not lives(driver), ANSWER_SECONDS, "a frozen driver is not given up")


def _freeze_worker(system: CountedSystem, random: Random) -> None:
    """Stop a whole worker until another has its task; then it goes on, unaware of that."""
    del random
    driver = _driver(system)
    worker = next(each for each in system.workers() if driver in each)
    with frozen(worker):
        wait(
            lambda: any(each not in worker for each in drivers(system)),
            ANSWER_SECONDS,
            "no other worker has a driver",
        )
        time.sleep(AWAY_SECONDS)  # the fault is that the new one works already


VICTIMS: Final[Mapping[str, Strike]] = {
    "kill driver": _kill_driver,
    "kill the driver's JVM": _kill_jvm,
    "kill Python worker": _kill_python_worker,
    "kill executor": _kill_executor,
    "kill broker": _kill_broker,
    "freeze driver": _freeze_driver,
    "freeze whole worker": _freeze_worker,
}
