"""Lives of tasks on this worker: each is one start of a task, from its order to its end."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from copycat.host.v1 import host_service_pb2 as pb
from copycat.status.v1.status_service_pb2 import Trouble
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import Instance
from copycat_connect.failure_kind import FailureKind

from copycat_executor.domain.desired import WantedTask
from copycat_executor.domain.host_view import Isolation
from copycat_executor.domain.running import Phase
from copycat_executor.hosts.host_pool import HostPool
from copycat_executor.hosts.launched_host import LaunchedHost
from copycat_executor.outbox import status_outbox
from copycat_executor.outbox.status_outbox import StatusOutbox
from copycat_executor.outbox.trouble_outbox import TroubleOutbox
from copycat_executor.peers import messages
from copycat_executor.state.board import Board
from copycat_executor.state.feed import Feed
from copycat_executor.state.healer import Healer


@dataclass(slots=True, eq=False)
class TaskLife:
    """One start of a task."""

    wanted: WantedTask
    start: int
    """Numbers the starts of this executor: what an earlier one still says is dropped."""
    job: asyncio.Task[Any] | None = None
    """Its way into a host."""
    host: LaunchedHost | None = None
    """Where it was sent."""
    taken: bool = False
    """Its host has its order: the code of the task may have run."""
    failed: bool = False
    """It failed, if only in its drain."""
    hung: bool = False
    """It did not drain in time; its host is to be left."""
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once its start is over: it runs, is paused, or failed."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once it says, or its host's end says, that it is over."""

    @property
    def instance(self) -> Instance:
        """Connector and number of the task."""
        return self.wanted.instance

    @property
    def ref(self) -> pb.TaskRef:
        """Its name on the control stream."""
        return pb.TaskRef(
            connector=self.instance.connector,
            task=self.instance.task_number,
            generation=self.wanted.generation,
            start=self.start,
        )


class TaskLives:
    """The lives under way, one per task."""

    def __init__(
        self,
        board: Board,
        feed: Feed,
        hosts: HostPool,
        statuses: StatusOutbox,
        troubles: TroubleOutbox,
        *,
        healer: Healer,
    ) -> None:
        self._healer = healer
        self._board = board
        self._feed = feed
        self._hosts = hosts
        self._statuses = statuses
        self._troubles = troubles
        self._lives: dict[Instance, TaskLife] = {}
        self._starts = itertools.count(1)

    def begin(self, wanted: WantedTask) -> TaskLife:
        """Enter a start of a task; events of its earlier starts are ignored from now on."""
        life = TaskLife(wanted, next(self._starts))
        self._lives[wanted.instance] = life
        return life

    def get(self, instance: Instance) -> TaskLife | None:
        """Return a task's life; None when it has none, e.g. since it failed."""
        return self._lives.get(instance)

    def of(self, ref: pb.TaskRef) -> TaskLife | None:
        """Return the life an event is about; None when that start is over."""
        life = self._lives.get(messages.task_of(ref))
        return life if life is not None and life.start == ref.start else None

    def let_share(self, cleared: Callable[[Instance], bool]) -> None:
        """Let others into the hosts of tasks that were kept apart and need not be any more."""
        for instance, life in self._lives.items():
            if life.host is not None and instance in life.host.tasks and cleared(instance):
                life.host.take(instance, Isolation.of(life.wanted.connector_config))

    def close(self, life: TaskLife) -> None:
        """End a life and free its place."""
        life.settled.set()
        if self._lives.get(life.instance) is life:
            del self._lives[life.instance]
            self._troubles.forget(life.instance)
        if life.host is not None:
            self._hosts.release(life.host, life.instance)

    def fail(self, life: TaskLife, trace: str, kind: FailureKind, version: str | None = None) -> None:
        """End a life by failure: the healer or a user brings the task back."""
        self.close(life)
        self._board.change_task(life.instance, phase=Phase.FAILED)
        trace = self._healer.failed(life.instance, life.wanted.connector_config, kind, trace)
        self.report(life, status_outbox.FAILED, trace=trace, version=version)

    def troubled(self, life: TaskLife, trouble: Trouble | None) -> None:
        """Tell what keeps a task from moving; None when nothing does any more."""
        if trouble is None:
            self._troubles.over(life.instance)
        else:
            self._troubles.tell(life.instance, life.wanted.generation, trouble)

    def report(
        self,
        life: TaskLife,
        state: types_pb2.State.ValueType,
        *,
        trace: str | None = None,
        version: str | None = None,
    ) -> None:
        """Report what a task does now."""
        generation = self._feed.generation_for(life.instance, life.wanted.generation)
        self._statuses.report(life.instance, state, generation, trace=trace, version=version)
