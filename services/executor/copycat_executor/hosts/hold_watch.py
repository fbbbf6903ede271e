"""Finds who holds the interpreter of a host: code in C that does not let any other thread run.

Nothing in such a host can say so, but the kernel knows what its threads compute, and which of them belongs
to which task. With nobody beside it a task may hold its host for some seconds. Where others share the host
they would stand: it is ended before they are late by a second, and they go on elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from copycat_executor.hosts.launched_host import Blame, LaunchedHost, Pulse
from copycat_executor.pipes.processor_time import busiest
from copycat_executor.taskhost.spec import PULSE_INTERVAL_SECONDS, TASK_NAME

#: Heartbeats come each two seconds at most: by then one was missed.
MISSED_HEARTBEAT_SECONDS = 2.5
#: A host that says nothing for so long, while one thread computes there alone, does not wait for a processor:
#: code that holds the interpreter lets nobody else have a turn.
HELD_SECONDS = 5.0
#: How much that thread has computed by then, since a heartbeat was missed.
COMPUTED_SECONDS = 0.5
#: Between two looks at the pulse of a shared host: it beats twice in that time.
LOOK_INTERVAL_SECONDS: Final = 2 * PULSE_INTERVAL_SECONDS
#: What a thread of a task has computed since a pulse was missed, when it is found to hold the others up.
#: Processor time, so that a machine with too much to do makes nobody guilty.
COMPUTED_BESIDE_OTHERS_SECONDS = 0.2


class Threads(Protocol):
    """Knows the threads of hosts."""

    def thread_seconds(self, pid: int) -> Mapping[str, float]:
        """Return what the threads of a host have computed, by name; nothing where that is not known here."""

    def pulse(self, pid: int) -> str:
        """Return what the pulse of a host shows, which changes; empty where that is not known here."""


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
        shown = self._threads.pulse(host.pid)
        if not shown or shown != host.pulse.shown:
            host.pulse = Pulse(shown, now)
            return None
        computed = _of_tasks(self._threads.thread_seconds(host.pid))
        if host.pulse.computed is None:
            host.pulse.computed = computed
            return None
        alone = busiest(host.pulse.computed, computed)
        if alone is None or alone[1] < COMPUTED_BESIDE_OTHERS_SECONDS:
            return None
        return Blame(alone[0], _reason(round(now - host.pulse.since, 1)), counts=False)


def _of_tasks(seconds: Mapping[str, float]) -> Mapping[str, float]:
    return {name: each for name, each in seconds.items() if name.startswith(TASK_NAME)}


def _reason(seconds: float) -> str:
    return f"code that it ran held the interpreter: nothing else could run for {seconds:g} s"
