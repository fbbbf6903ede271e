"""A host this executor launched, from its launch to its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.cluster import Instance

from copycat_executor.domain.placement import HostView, Isolation


class HostSession:
    """The executor's end of a control stream."""

    def __init__(self, now: float) -> None:
        self.last_heartbeat = now
        self._commands: asyncio.Queue[pb.AttachResponse | None] = asyncio.Queue()

    def send(self, command: pb.AttachResponse) -> None:
        """Queue a command for the host; it is sent after those queued before."""
        self._commands.put_nowait(command)

    def finish(self) -> None:
        """End the stream after the commands queued so far."""
        self._commands.put_nowait(None)

    async def commands(self) -> AsyncGenerator[pb.AttachResponse, None]:
        """Yield commands until the stream is finished."""
        while (command := await self._commands.get()) is not None:
            yield command


@dataclass(slots=True)
class HeldUpQuestion:
    """Whether a host that several tasks share is held up, as it was asked last."""

    computed: float = 0.0
    """What the host had computed by then, seconds."""
    asked: float | None = None
    """When a heartbeat was wanted of it, seconds; None while none is missing."""
    by_thread: Mapping[str, float] | None = None
    """What its threads had computed when that heartbeat was missed, seconds; None while it is not."""


@dataclass(frozen=True, slots=True)
class Blame:
    """A thread of a task holds the interpreter of a host, which is ended for that."""

    thread: str
    """How it is called in the kernel."""
    reason: str
    counts: bool
    """Whether the host would have had to end also with nobody else in it."""


class LaunchedHost:
    """What is known of one host."""

    def __init__(self, host_id: str, now: float) -> None:
        self.host_id = host_id
        self.launched = now
        self.tasks: dict[Instance, Isolation] = {}
        self.former: str | None = None
        self.empty_since = now
        self.retiring = False
        self.ends_by: float | None = None
        """It was asked to end, so its end is no loss; after this time it is killed."""
        self.hangs = False
        """A thread of a task hangs in it: others leave it, and it is ended by force."""
        self.computed: Mapping[str, float] | None = None
        """What its threads had computed when it missed a heartbeat, seconds; None while it misses none."""
        self.question = HeldUpQuestion()
        self.blame: Blame | None = None
        """Why it was ended by force, where code of a task is the reason."""
        self.lost = False
        """Its control stream ended without need."""
        self.killed = False
        """It was ended by force, and may not be gone yet."""
        self.pid = 0
        self.session: HostSession | None = None
        self.leased = asyncio.Event()
        """Set once it has attached and has its lease, or has ended."""
        self.gone = asyncio.Event()

    @property
    def ending(self) -> bool:
        """True once it was asked to end."""
        return self.ends_by is not None

    def view(self) -> HostView:
        """Return the host as the planner sees it."""
        return HostView(
            host_id=self.host_id,
            launched=self.launched,
            tasks=dict(self.tasks),
            former=self.former,
            empty_since=self.empty_since,
            retiring=self.retiring or self.ending,
        )

    def attach(self, session: HostSession, pid: int) -> None:
        """Note that the host's process has opened its control stream."""
        self.session, self.pid = session, pid

    def end(self) -> None:
        """Note that its process is gone."""
        self.gone.set()
        self.leased.set()
        if self.session is not None:
            self.session.finish()

    def renew(self, lease: pb.HostLease) -> None:
        """Tell it how long it may go on."""
        self.send(pb.AttachResponse(lease=lease))
        self.leased.set()

    def send(self, command: pb.AttachResponse) -> None:
        """Send a command; lost when it never attached."""
        if self.session is not None:
            self.session.send(command)

    def silent_for(self, now: float) -> float:
        """Return for how long nothing was heard of it, seconds."""
        return now - (self.launched if self.session is None else self.session.last_heartbeat)

    def take(self, task: Instance, isolation: Isolation) -> None:
        """Give a task its place here."""
        self.tasks[task] = isolation

    def leave(self, task: Instance, now: float) -> None:
        """Free the place of a task."""
        if self.tasks.pop(task, None) is not None:
            self.former = task.connector
            self.empty_since = now
