"""Tasks that wait for a place on Spark: their status says so as soon as it lasts."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from copycat.status.v1 import status_service_pb2 as pb
from copycat_connect.cluster import Instance

from copycat_executor.hosts.host_pool import HostPool
from copycat_executor.outbox import status_outbox
from copycat_executor.outbox.trouble_outbox import TroubleOutbox
from copycat_executor.tasks.task_life import TaskLife, TaskLives

#: A task finds its place sooner as a rule. A silent host is given up a second before its lease ends: what
#: nobody runs is RUNNING for no longer than a lease.
GRACE_SECONDS: Final = 0.8


#: A host that dies before it attaches is followed by the next try at once.
SAME_WAIT_SECONDS: Final = 0.5


@dataclass(slots=True)
class Wait:
    """A wait for a place, in one try or in several that follow each other."""

    began: float
    """Time of the event loop."""
    began_at: float
    """The same as a time of day, seconds since the epoch."""
    ended: float = math.inf
    """When the last try ended, time of the event loop."""


class PlaceWaits:
    """Tells of tasks that nobody runs since there is no place for them."""

    def __init__(self, hosts: HostPool, lives: TaskLives, troubles: TroubleOutbox, master: str) -> None:
        """`master` is Spark's."""
        self._hosts = hosts
        self._lives = lives
        self._troubles = troubles
        self._master = master
        self._waits: dict[Instance, Wait] = {}

    @contextmanager
    def told(self, life: TaskLife) -> Iterator[None]:
        """Tell of the task for as long as this block lasts, once that is longer than usual."""
        loop, instance = asyncio.get_running_loop(), life.instance
        wait = self._waits.get(instance)
        if wait is None or loop.time() - wait.ended > SAME_WAIT_SECONDS:
            wait = self._waits[instance] = Wait(loop.time(), time.time())
        timer = loop.call_at(wait.began + GRACE_SECONDS, self._tell, life, wait)
        try:
            yield
        finally:
            timer.cancel()
            wait.ended = loop.time()

    def over(self, instance: Instance) -> None:
        """A task has its place, or wants none any more; until then a try right after another is one wait."""
        if self._waits.pop(instance, None) is not None:
            self._troubles.forget(instance)

    def _tell(self, life: TaskLife, wait: Wait) -> None:
        if self._lives.get(life.instance) is not life:
            return  # its host has died just now, and what becomes of it is reported
        self._lives.report(life, status_outbox.UNASSIGNED)
        trouble = pb.Trouble(
            kind=pb.TROUBLE_KIND_WAITS,
            since_ms=int(wait.began_at * 1000),
            text=self._text(life.instance),
        )
        self._troubles.tell(life.instance, life.wanted.generation, trouble)

    def _text(self, task: Instance) -> str:
        if not self._hosts.has_host(task):
            return "a task host, for all slots of this worker are taken (spark.master, spark.cores.max)"
        return (
            f"a place on Spark ({self._master}): its task host was launched, and Spark has not started it. "
            "Are there Spark workers with a free core, and the memory that spark.executor.memory names?"
        )
