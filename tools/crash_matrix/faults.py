"""What may happen to a running system: each fault is done to it and, where nobody else does, undone again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Final

import psutil
from copycat_testkit.eventually import wait
from copycat_testkit.faults import frozen, kill, killed_broker

from tools.crash_matrix.system import ANSWER_SECONDS, PARTITIONS, System

Fault = Callable[[System, Random], None]
#: How long the broker may stay away, at most.
AWAY_SECONDS: Final = 2.0


def _kill_service(role: str, system: System, random: Random) -> None:
    del random
    kill(system.up.processes(role))


def _some_host(system: System, random: Random) -> psutil.Process:
    wait(lambda: bool(system.busy_hosts()), ANSWER_SECONDS, "no task host has tasks")
    return random.choice(system.busy_hosts())


def _some_worker(system: System, random: Random) -> list[psutil.Process]:
    wait(lambda: bool(system.busy_workers()), ANSWER_SECONDS, "no worker has tasks")
    return random.choice(system.busy_workers())


def _kill_host(system: System, random: Random) -> None:
    kill([_some_host(system, random)])


def _kill_executor(system: System, random: Random) -> None:
    kill(_some_worker(system, random)[:1])


def _kill_worker(system: System, random: Random) -> None:
    kill(_some_worker(system, random))


def _kill_spark(system: System, random: Random) -> None:
    worker = _some_worker(system, random)
    kill([each for each in worker if each in system.up.processes("spark")])


def _kill_broker(system: System, random: Random) -> None:
    with killed_broker(system.broker):
        time.sleep(random.uniform(0, AWAY_SECONDS))  # the fault is that it is away


def _freeze_host(system: System, random: Random) -> None:
    """Freeze a task host until its tasks run elsewhere; its executor gives it up and ends it."""
    with frozen([_some_host(system, random)]):
        _flows_again(system)


def _freeze_worker(system: System, random: Random) -> None:
    """Freeze a whole worker until another has its tasks; then its own tasks wake up and go on, unaware."""
    with frozen(_some_worker(system, random)):
        _flows_again(system)


def _flows_again(system: System) -> None:
    moment = time.time()
    wait(lambda: system.flows_since(moment), ANSWER_SECONDS, "its tasks do not run elsewhere")


def _restart(system: System, random: Random) -> None:
    for kind in system.kinds:
        if random.random() < 0.5:
            system.ask("POST", f"/connectors/{kind}/restart?includeTasks=true")
        else:
            system.ask("POST", f"/connectors/{kind}/tasks/0/restart")


def _pause(system: System, random: Random) -> None:
    del random
    for verb in ("pause", "resume"):
        for kind in system.kinds:
            system.ask("PUT", f"/connectors/{kind}/{verb}")


def _scale(system: System, random: Random) -> None:
    system.configure(random.choice([count for count in range(1, PARTITIONS + 1) if count != system.tasks]))


FORCE: Final[Mapping[str, Fault]] = {
    "kill executor": _kill_executor,
    "kill whole worker": _kill_worker,
    "kill task host": _kill_host,
    "kill Spark JVM": _kill_spark,
    "kill offset service": partial(_kill_service, "offset"),
    "kill config service": partial(_kill_service, "config"),
    "kill scheduler": partial(_kill_service, "scheduler"),
    "kill broker": _kill_broker,
    "freeze task host": _freeze_host,
    "freeze whole worker": _freeze_worker,
}
"""SIGKILL and SIGSTOP."""

HANDS: Final[Mapping[str, Fault]] = {"restart": _restart, "pause and resume": _pause, "scale": _scale}
"""What people do over REST."""

FAULTS: Final[Mapping[str, Fault]] = {**FORCE, **HANDS}
"""All of them, by the name that the report has."""

_SECOND: Final = ("kill task host", "kill executor", "kill offset service", "kill scheduler")


def _nothing(system: System, random: Random) -> None:
    del system, random


def _second_blow(system: System, random: Random) -> None:
    FORCE[random.choice(_SECOND)](system, random)


MOMENTS: Final[Mapping[str, Fault]] = {
    "while records flow": _nothing,
    "while tasks restart": _restart,
    "while their number changes": _scale,
    "while another fault heals": _second_blow,
}
"""When a fault strikes: what is done just before."""
