"""The rows of the table: what is done to a running system, and undone again where nobody else does."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from io import FileIO
from typing import Final

import psutil
from copycat_testkit import faults
from copycat_testkit.eventually import wait
from copycat_testkit.processes import command_line

from tools.recovery_table.system import (
    BESIDE,
    PARTITIONS,
    PLUGIN_CALL_SECONDS,
    READY_SECONDS,
    SINK,
    STRUCK,
    FaultySystem,
)

#: What the processes of connectors are called in lists of processes.
CONNECTORS_NAME: Final = "copycat_executor.connectors"
#: From the deadline of a call to what is made of it.
GIVING_UP_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Fault:
    """A strike that was done."""

    moment: float
    """When, of `time.monotonic`."""
    unrelated: Sequence[int]
    """Partitions of the connector beside whose process was not touched."""
    lasts: Callable[[], bool] = lambda: False
    """Whether what was struck is still there and struck: somebody may have to notice."""


Strike = Callable[[FaultySystem], AbstractContextManager[Fault]]
"""Strikes when it is entered, undoes what it can when it is left."""
Target = Callable[[FaultySystem], list[psutil.Process]]
"""Finds what is to be struck."""


def host(system: FaultySystem) -> list[psutil.Process]:
    """The task host of the first task of the struck source."""
    return [system.host_of(STRUCK, 0)]


def executor(system: FaultySystem) -> list[psutil.Process]:
    """The executor of that task."""
    return system.worker_of(system.host_of(STRUCK, 0))[:1]


def spark(system: FaultySystem) -> list[psutil.Process]:
    """The Spark JVM of that task's worker."""
    worker = system.worker_of(system.host_of(STRUCK, 0))
    return [each for each in system.up.processes("spark") if each in worker]


def connectors(system: FaultySystem) -> list[psutil.Process]:
    """The process in which the struck source's connector runs; and those of questions, if there are any."""
    worker_id = system.ask("GET", f"/connectors/{STRUCK}/status")["connector"]["worker_id"]
    found = system.up.executor(worker_id).children(recursive=True)
    return [each for each in found if CONNECTORS_NAME in command_line(each)]


def service(role: str) -> Target:
    """Return how to find a service."""
    return lambda system: system.up.processes(role)


def _others(system: FaultySystem, struck: Iterable[psutil.Process]) -> list[int]:
    """Return the partitions of the connector beside whose tasks run neither there nor on a struck worker."""
    touched = {each.pid for process in struck for each in _with_tasks(system, process)}
    return [task for task in range(PARTITIONS) if system.host_of(BESIDE, task).pid not in touched]


def _with_tasks(system: FaultySystem, process: psutil.Process) -> list[psutil.Process]:
    """Return the processes that a process takes with it: an executor and a JVM all of their worker."""
    worker = system.worker_of(process)
    whole = bool(worker) and (process == worker[0] or process in system.up.processes("spark"))
    return worker if whole else [process]


def killed(target: Target) -> Strike:
    """Return what kills -9."""

    @contextmanager
    def strike(system: FaultySystem) -> Iterator[Fault]:
        found = _found(system, target)
        unrelated = _others(system, found)
        moment = time.monotonic()
        faults.kill(found)
        yield Fault(moment, unrelated)

    return strike


def frozen(target: Target) -> Strike:
    """Return what stops by SIGSTOP."""

    @contextmanager
    def strike(system: FaultySystem) -> Iterator[Fault]:
        found = _found(system, target)
        unrelated = _others(system, found)
        moment = time.monotonic()
        with faults.frozen(found):
            yield Fault(moment, unrelated, lambda: any(each.is_running() for each in found))

    return strike


def _found(system: FaultySystem, target: Target) -> list[psutil.Process]:
    found: list[psutil.Process] = []

    def is_there() -> bool:
        found[:] = target(system)
        return bool(found)

    wait(is_there, READY_SECONDS, "what is to be struck is not there")
    return found


def in_call(name: str, call: str, harm: str, act: Callable[[FaultySystem], None] | None = None) -> Strike:
    """Return what has a call of the author's code do harm, once; `act` leads to the call."""

    @contextmanager
    def strike(system: FaultySystem) -> Iterator[Fault]:
        folder = system.folder / name
        (folder / f"half-{call}").write_text(harm)
        (folder / f"half-{call}").rename(folder / f"harm-{call}")
        try:
            if act is not None:
                act(system)
            wait((folder / f"done-{call}").exists, READY_SECONDS, f"{call} was not called")
            yield Fault(time.monotonic(), range(PARTITIONS))
        finally:
            for state in ("harm", "done"):
                (folder / f"{state}-{call}").unlink(missing_ok=True)

    return strike


def in_connector(call: str, act: Callable[[FaultySystem], None]) -> Strike:
    """Return what has a call of the struck source's connector hang; its tasks do not notice."""
    harm = in_call(STRUCK, f"connector-{call}", "hang", act)

    @contextmanager
    def strike(system: FaultySystem) -> Iterator[Fault]:
        with harm(system) as struck:
            given_up = struck.moment + PLUGIN_CALL_SECONDS + GIVING_UP_SECONDS
            yield replace(struck, lasts=lambda: time.monotonic() < given_up)

    return strike


def restart_task(name: str) -> Callable[[FaultySystem], None]:
    """Return what asks for a restart of a connector's first task."""
    return lambda system: system.ask_aside("POST", f"/connectors/{name}/tasks/0/restart")


def restart_connector(system: FaultySystem) -> None:
    """Ask for a restart of the struck source's connector."""
    system.ask_aside("POST", f"/connectors/{STRUCK}/restart")


def reconfigure(system: FaultySystem) -> None:
    """Change the configuration of the struck source."""
    config = {**system.config(STRUCK), "change": str(time.time_ns())}
    system.ask_aside("PUT", f"/connectors/{STRUCK}/config", config)


@contextmanager
def broker_gone(system: FaultySystem) -> Iterator[Fault]:
    """Kill the broker, and start it again."""
    moment = time.monotonic()
    with faults.killed_broker(system.broker):
        yield Fault(moment, range(PARTITIONS))


@contextmanager
def line_cut(system: FaultySystem) -> Iterator[Fault]:
    """Cut the line between the whole system and the broker."""
    moment = time.monotonic()
    with faults.cut(system.wire):
        yield Fault(moment, range(PARTITIONS))


@contextmanager
def disk_full(system: FaultySystem) -> Iterator[Fault]:
    """Fill the sink's disk; where it has none of its own, it writes to /dev/full instead."""
    disk = system.folder / SINK / "disk"
    filler = disk / ("filler" if disk.is_mount() else "write-to-dev-full")
    moment = time.monotonic()
    with filler.open("wb", buffering=0) as file:
        if disk.is_mount():
            _fill(file)
    try:
        yield Fault(moment, range(PARTITIONS))
    finally:
        filler.unlink()


def _fill(file: FileIO) -> None:
    with contextlib.suppress(OSError):
        while True:
            file.write(b"\0" * 4096)


#: How long the broker, the line to it and the disk stay away.
AWAY_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Row:
    """One failure."""

    name: str
    strike: Strike
    away_seconds: float = 0.0
    """How long it lasts, where somebody else ends it; 0 where the system has to deal with it."""
    all_stand: bool = False
    """Every connector has to stand meanwhile, so that the gap of one beside says nothing."""
    stops_silently: bool = False
    """Something stops that records do not show: the status has to say so."""


_PROCESSES: Final[Mapping[str, Target]] = {
    "task host": host,
    "executor": executor,
    "Spark JVM": spark,
    "process of the connectors": connectors,
    **{f"{role} service": service(role) for role in ("config", "offset", "status")},
    "scheduler": service("scheduler"),
    "gateway": service("gateway"),
}
_HANGS: Final = (
    Row("a hang in start of a source task", in_call(STRUCK, "start", "hang", restart_task(STRUCK))),
    Row("a hang in poll", in_call(STRUCK, "poll", "hang")),
    Row("a hang in commit", in_call(STRUCK, "commit", "hang")),
    Row("a hang in stop of a source task", in_call(STRUCK, "stop", "hang", restart_task(STRUCK))),
    Row("a hang in start of a sink task", in_call(SINK, "start", "hang", restart_task(SINK))),
    Row("a hang in put", in_call(SINK, "put", "hang")),
    Row("a hang in flush", in_call(SINK, "flush", "hang")),
    Row("a hang in stop of a sink task", in_call(SINK, "stop", "hang", restart_task(SINK))),
    Row("a hang in start of a connector", in_connector("start", restart_connector), stops_silently=True),
    Row("a hang in taskConfigs", in_connector("taskConfigs", reconfigure)),
    Row("a hang in stop of a connector", in_connector("stop", restart_connector)),
)
_EVERY: Final = (
    *(Row(f"kill -9 of the {name}", killed(target)) for name, target in _PROCESSES.items()),
    *(Row(f"SIGSTOP of the {name}", frozen(target)) for name, target in _PROCESSES.items()),
    Row("a poll that takes memory without end", in_call(STRUCK, "poll", "leak")),
    *_HANGS,
    Row("broker killed, back after 30 s", broker_gone, AWAY_SECONDS, all_stand=True),
    Row("network to Kafka cut for 30 s", line_cut, AWAY_SECONDS, all_stand=True),
    Row("disk full under the sink for 30 s", disk_full, AWAY_SECONDS),
)
ROWS: Final[Mapping[str, Row]] = {row.name: row for row in _EVERY}
"""All of them, in the order of the table."""
