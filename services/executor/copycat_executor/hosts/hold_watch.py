"""Finds who holds the interpreter of a host: code in C that does not let any other thread run.

Nothing in such a host can say so, but the kernel knows what its threads compute, and which of them belongs
to which task. With nobody beside it a task may hold its host for some seconds. Where others share the host
they would stand: it is ended before they are late by a second, and they go on elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from copycat.host.v1 import host_service_pb2 as pb

from copycat_executor.hosts.launched_host import Blame, HeldUpQuestion, LaunchedHost
from copycat_executor.pipes.processor_time import busiest
from copycat_executor.taskhost.spec import TASK_NAME

#: Heartbeats come each two seconds at most: by then one was missed.
MISSED_HEARTBEAT_SECONDS = 2.5
#: A host that says nothing for so long, while one thread computes there alone, does not wait for a processor:
#: code that holds the interpreter lets nobody else have a turn.
HELD_SECONDS = 5.0
#: How much that thread has computed by then, since a heartbeat was missed.
COMPUTED_SECONDS = 0.5
#: Between two looks at a host that tasks share, and while a heartbeat of it is awaited.
LOOK_INTERVAL_SECONDS: Final = 0.1
NEXT_LOOK_SECONDS: Final = 0.05
#: What such a host computes before it is asked for a heartbeat: one that waits is never asked.
ASKED_AFTER_SECONDS: Final = 0.05
#: What a thread of a task has computed since that heartbeat was missed, when it is found to hold the others
#: up. Processor time, so that a machine with too much to do makes nobody guilty.
COMPUTED_BESIDE_OTHERS_SECONDS = 0.2


class Threads(Protocol):
    """Knows the threads of hosts."""

    def thread_seconds(self, pid: int) -> Mapping[str, float]:
        """Return what the threads of a host have computed, by name; nothing where that is not known here."""

    def process_seconds(self, pid: int) -> float:
        """Return what a host has computed; 0 where that is not known here."""


class HoldWatch:
    """Looks whether the interpreter of a host is held, and by whom."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads

    def look(self, host: LaunchedHost, now: float) -> Blame | None:
        """Return who holds a host that has been silent for long; call it each second."""
        if host.session is None or host.silent_for(now) < MISSED_HEARTBEAT_SECONDS:
            host.computed = None
        elif host.computed is None:
            host.computed = self._threads.thread_seconds(host.pid)
        elif host.silent_for(now) >= HELD_SECONDS:
            alone = busiest(host.computed, self._threads.thread_seconds(host.pid))
            if alone is not None and alone[1] >= COMPUTED_SECONDS:
                return Blame(alone[0], _reason(HELD_SECONDS), counts=True)
        return None

    def look_beside_others(self, host: LaunchedHost, now: float) -> Blame | None:
        """Return who holds a host that several tasks share; call it at each interval."""
        question = host.question
        if question.asked is None or host.silent_for(now) < now - question.asked:
            self._ask(host, now)
            return None
        by_thread = _of_tasks(self._threads.thread_seconds(host.pid))
        if question.by_thread is None:
            question.by_thread = by_thread
            return None
        alone = busiest(question.by_thread, by_thread)
        if alone is None or alone[1] < COMPUTED_BESIDE_OTHERS_SECONDS:
            return None
        return Blame(alone[0], _reason(round(now - question.asked, 1)), counts=False)

    def _ask(self, host: LaunchedHost, now: float) -> None:
        """Want a heartbeat of a host that has computed since it was asked last."""
        computed = self._threads.process_seconds(host.pid)
        if computed - host.question.computed >= ASKED_AFTER_SECONDS:
            host.question = HeldUpQuestion(computed, asked=now)
            host.send(pb.AttachResponse(heartbeat_wanted=pb.HeartbeatWanted()))
        else:
            host.question.asked = None


def _of_tasks(seconds: Mapping[str, float]) -> Mapping[str, float]:
    return {name: each for name, each in seconds.items() if name.startswith(TASK_NAME)}


def _reason(seconds: float) -> str:
    return f"code that it ran held the interpreter: nothing else could run for {seconds:g} s"
