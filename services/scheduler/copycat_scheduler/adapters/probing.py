"""Asking workers at their own addresses: those whose stream broke, and those that have been silent for long.

A refused connection says that the process is gone, long before its lease ends. A worker that answers is
there, though its beats do not arrive, and keeps its work. Whoever says nothing has its lease.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine

from copycat_connect.beats import until_beat
from copycat_rpc.reach import Reach

from copycat_scheduler.adapters.workers import LiveWorkers

INTERVAL_SECONDS = 0.5
TIMEOUT_SECONDS = 1.0
#: Between questions to a worker whose stream broke: the kernel closes what a process had open one by one.
WAITS_SECONDS = (0.0, 0.1, 0.2, 0.4, 0.8)


class Probing:
    """Asks while this instance leads; what it learns the workers hear."""

    def __init__(
        self,
        workers: LiveWorkers,
        lease_seconds: float,
        reach: Callable[[str, float], Awaitable[Reach]],
        serves: Callable[[str, float], Awaitable[bool]],
    ) -> None:
        """Ask nobody before `run`.

        Args:
            workers: Who is to be asked.
            lease_seconds: How long a worker may be silent; after half of it, it is asked.
            reach: Connects to an address within some seconds.
            serves: Returns whether a service answers at an address, within some seconds, that it serves.
        """
        self._workers = workers
        self._silence = lease_seconds / 2
        self._reach = reach
        self._serves = serves
        self._asking: dict[str, asyncio.Task[None]] = {}
        #: A refusal means something only where somebody was seen to listen: not behind a translated address.
        self._seen: set[str] = set()

    async def run(self) -> None:
        """Ask until cancelled; no worker waits for the answer of another."""
        try:
            while True:
                self._workers.awake()
                sessions, now = self._workers.heard_of.sessions, _now()
                self._seen &= set(sessions)
                for worker_id, session in sessions.items():
                    silent = now - session.at > self._silence
                    if (silent or worker_id not in self._seen) and worker_id not in self._asking:
                        self._spawn(worker_id, self._ask(worker_id, silent=silent))
                await asyncio.sleep(until_beat(_now(), INTERVAL_SECONDS))
        finally:
            for question in self._asking.values():
                question.cancel()

    def stream_ended(self, worker_id: str) -> None:
        """Ask a worker at once, since the connection to it is gone."""
        if worker_id in self._seen and worker_id in self._workers.heard_of.sessions:
            if former := self._asking.pop(worker_id, None):
                former.cancel()
            self._spawn(worker_id, self._ask_again_and_again(worker_id))

    def _spawn(self, worker_id: str, question: Coroutine[None, None, None]) -> None:
        task = self._asking[worker_id] = asyncio.create_task(question)

        def done(_: object) -> None:
            if self._asking.get(worker_id) is task:
                del self._asking[worker_id]

        task.add_done_callback(done)

    async def _ask_again_and_again(self, worker_id: str) -> None:
        broke = _now()
        for wait in WAITS_SECONDS:
            await asyncio.sleep(wait)
            session = self._workers.heard_of.sessions.get(worker_id)
            if session is None or session.at > broke:
                return
            await self._ask(worker_id, silent=False)

    async def _ask(self, worker_id: str, *, silent: bool) -> None:
        began = _now()
        match await self._reach(worker_id, TIMEOUT_SECONDS):
            case Reach.ACCEPTED:
                self._seen.add(worker_id)
                if silent and await self._serves(worker_id, TIMEOUT_SECONDS):
                    self._workers.heard(worker_id, began)
            case Reach.REFUSED if worker_id in self._seen:
                self._workers.died(worker_id, began)


def _now() -> float:
    return asyncio.get_running_loop().time()
