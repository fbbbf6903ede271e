"""The hosts of this executor: launched, given tasks, kept up, ended."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Protocol

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.cluster import Instance
from copycat_connect.retry import RetryPolicy
from copycat_telemetry.changes import log_change

from copycat_executor.background import ChangeSignal
from copycat_executor.domain.errors import HostRefusedError, NoSlotError
from copycat_executor.domain.placement import (
    InHost,
    Isolation,
    NewHost,
    NoPlace,
    Place,
    ResidencyRules,
    place,
    place_apart,
    upkeep,
)
from copycat_executor.hosts.hold_watch import LOOK_INTERVAL_SECONDS, NEXT_LOOK_SECONDS, HoldWatch, Threads
from copycat_executor.hosts.launched_host import Blame, HostSession, LaunchedHost
from copycat_executor.taskhost.spec import HostSpec, HostTls

log = logging.getLogger(__name__)

#: A silent host is ended by force so long before the lease of its worker would end; where that does not reach
#: it, it ends itself half a second later.
LEASE_MARGIN_SECONDS = 1.0
#: Before the scheduler has said how long leases are.
FIRST_LEASE_SECONDS = 15.0
#: A launch on a busy machine takes seconds, seldom more.
LAUNCH_TIMEOUT_SECONDS = 60.0
#: A task waits this long for a slot while none is free and none is about to be.
SLOT_WAIT_SECONDS = 30.0
#: A host may take this long to end its tasks.
DRAIN_TIMEOUT_MS = 5000
LAUNCH_RETRY = RetryPolicy(first=0.1, factor=4.0, ceiling=30.0)
#: A host may take this long to go after its drain, and after it was killed.
KILL_WAIT_SECONDS = 5.0


class Launcher(Threads, Protocol):
    """Runs the process of a host."""

    def launch(self, spec: HostSpec, ended: Callable[[str, str | None], None]) -> None:
        """Start a host; `ended` hears from any thread of its end, with the reason of a failure."""

    def kill(self, host_id: str, pid: int) -> None:
        """End a host by force; `pid` is its process on its machine, 0 while it has not attached."""

    async def kill_and_wait(self, host_id: str, pid: int) -> bool:
        """Do so, and return whether the process is surely gone; not where that cannot be seen soon."""


class Residents(Protocol):
    """Whose tasks live in the hosts."""

    def host_lost(self, tasks: Sequence[Instance], reason: str, blame: Blame | None) -> None:
        """The host of these tasks died; `blame` says whose code was the reason, where that is known."""

    def may_be_alone(self, tasks: Sequence[Instance], blame: Blame) -> bool:
        """Return whether the one of these tasks that holds their host up may get another for itself."""

    def leave_host(self, tasks: Sequence[Instance]) -> None:
        """These tasks are to move to another host."""


class HostPool:
    """All hosts of this executor; called from its event loop only."""

    def __init__(
        self,
        launcher: Launcher,
        rules: ResidencyRules,
        *,
        address: str,
        token: str,
        log_level: str,
        failed_plugins: Callable[[], Mapping[str, str]],
        lease: Callable[[], float | None],
        tls: Callable[[], HostTls | None] = lambda: None,
        span_endpoint: str = "",
        kind: str = "",
        launch_timeout: float = LAUNCH_TIMEOUT_SECONDS,
        in_turn: bool = False,
    ) -> None:
        """Keep what hosts are launched with.

        Args:
            launcher: Runs their processes.
            rules: How long they stay.
            address: Where they find this executor.
            token: What they prove themselves with.
            log_level: Of their root logger.
            failed_plugins: Returns what they must not load.
            lease: Returns how long the leases of hosts are, seconds; None while that is not known.
            tls: Returns what they encrypt with; None where gRPC is in plain text.
            span_endpoint: Where hosts export spans; empty for nowhere.
            kind: Stands in the ids of its hosts, where there is another pool.
            launch_timeout: How long a host may take to attach, seconds.
            in_turn: Whether a task gets a host only when the one before it has its host, attached.
        """
        self._residents: Residents | None = None
        self._failed_plugins = failed_plugins
        self._lease = lease
        self._tls = tls
        self._launcher = launcher
        self._holds = HoldWatch(launcher)
        self._rules = rules
        self._address = address
        self._log_level = log_level
        self._span_endpoint = span_endpoint
        self._token = token
        self._numbers, self._kind = itertools.count(1), kind
        self._launch_timeout = launch_timeout
        self._turn = asyncio.Lock() if in_turn else nullcontext()
        self._hosts: dict[str, LaunchedHost] = {}
        self._standing: dict[str, pb.AttachResponse] = {}
        self._changed = ChangeSignal()
        self._room_for: set[Instance] = set()  # each has the next slot that is freed, for itself
        self._losing: set[asyncio.Task[None]] = set()
        self._loop, self._closing = asyncio.get_running_loop(), False
        self._waits = LAUNCH_RETRY.waits()
        self._launches_from = 0.0

    def listen(self, residents: Residents) -> None:
        """Have what becomes of hosts heard by `residents`; call it once, before the first task is placed."""
        self._residents = residents

    def attach(self, hello: pb.Hello) -> LaunchedHost:
        """Accept the control stream of a host; it has proved with its call that it is one of ours.

        Raises:
            HostRefusedError: It is not one this executor waits for, or is to end.
        """
        host = self._hosts.get(hello.host_id)
        if host is None or host.session is not None or host.ending:
            raise HostRefusedError(hello.host_id)
        host.attach(HostSession(self._loop.time()), hello.pid)
        for command in self._standing.values():
            host.send(command)
        self._waits = LAUNCH_RETRY.waits()
        self._changed.notify()
        return host

    def detached(self, host: LaunchedHost) -> None:
        """End the process of a host whose control stream ended, if it is not gone already."""
        if not host.ending:
            host.lost = True
            losing = self._loop.create_task(self._lose_at_once(host, "its process crashed or was killed"))
            self._losing.add(losing)  # the loop itself keeps no task alive
            losing.add_done_callback(self._losing.discard)

    async def warm(self) -> None:
        """Wait until a spare host is attached, if any are kept, so that a task can start at once."""
        seen_changes = self._changed.count
        while self._rules.spares and not any(host.session for host in self._hosts.values()):
            seen_changes = await self._changed.wait(seen_changes)

    async def place(
        self, task: Instance, isolation: Isolation, *, alone: bool, foremost: bool
    ) -> LaunchedHost | None:
        """Give a task a host that is attached, with nobody else in it if `alone` and others still find one.

        The last host that one can have for itself is for a task that is `foremost`.
        It has a lease: without one it would outlive a worker that is frozen. None when it died meanwhile.

        Raises:
            NoSlotError: Every slot is taken by tasks that share with nobody.
        """
        async with self._turn:
            try:
                host = await self._reserve(task, isolation, alone, foremost)
            finally:
                self._room_for.discard(task)
            self.tend()
            try:
                await host.leased.wait()
            except asyncio.CancelledError:
                self.release(host, task)
                raise
        return None if host.gone.is_set() else host

    @property
    def is_full(self) -> bool:
        """Whether there are as many hosts as there may be."""
        return len(self._hosts) >= self._rules.slots

    def has_host(self, task: Instance) -> bool:
        """Return whether a task has its place in a host, which may not have attached yet."""
        return any(task in host.tasks for host in self._hosts.values())

    def release(self, host: LaunchedHost, task: Instance) -> None:
        """Free the place of a task that has ended."""
        host.leave(task, self._loop.time())
        self.tend()

    def retire(self, host: LaunchedHost) -> None:
        """Leave a host: its tasks move, then it ends."""
        if not host.retiring:
            host.retiring = True
            if host.tasks and self._residents is not None:
                self._residents.leave_host(list(host.tasks))
            self._changed.notify()

    async def abandon(self, host: LaunchedHost, hung: Instance) -> None:
        """End a host in which a task hangs, once its other tasks have left."""
        host.hangs = True
        self.release(host, hung)
        await host.gone.wait()

    def broadcast(self, subject: str, command: pb.AttachResponse) -> None:
        """Send a command to every host, later ones included; it replaces the last of its subject."""
        self._standing.pop(subject, None)
        self._standing[subject] = command
        for host in self._hosts.values():
            host.send(command)

    def tend(self) -> None:
        """End, leave and launch what is due; called each second and after each change."""
        now = self._loop.time()
        for host in [each for each in self._hosts.values() if each.hangs]:
            self.retire(host)
        views = [host.view() for host in self._hosts.values() if not host.ending]
        due = upkeep(views, now, self._rules)
        for host_id in due.end:
            self._end(self._hosts[host_id])
        for host_id in due.retire:
            self.retire(self._hosts[host_id])
        free = self._rules.slots - len(self._room_for) - len(self._hosts)
        for _ in range(min(due.launch, free) if now >= self._launches_from and not self._closing else 0):
            self._launch()
        for host in self._hosts.values():
            self._force(host, now)
        self._changed.notify()

    async def watch_shared(self) -> None:
        """End hosts in which one task holds the others up, for ever; looks while tasks share a host."""
        seen_changes = self._changed.count
        while True:
            shared = [host for host in self._hosts.values() if len(host.tasks) > 1 and not host.ending]
            if not shared:
                seen_changes = await self._changed.wait(seen_changes)
                continue
            for host in shared:
                blame = self._holds.look_beside_others(host, self._loop.time())
                if blame and self._residents and self._residents.may_be_alone(list(host.tasks), blame):
                    self._blame(host, blame)
                    await self._lose_at_once(host, blame.reason)
            asked = any(host.question.asked is not None for host in shared)
            await self._on_time(NEXT_LOOK_SECONDS if asked else LOOK_INTERVAL_SECONDS)

    async def _on_time(self, seconds: float) -> None:
        """Wait so long; once more where it took far longer, as heartbeats that came then are not read yet."""
        late = True
        while late:
            due = self._loop.time() + seconds
            await asyncio.sleep(seconds)
            late = self._loop.time() > due + LOOK_INTERVAL_SECONDS

    async def close(self, seconds: float) -> None:
        """End all hosts, by force after some seconds."""
        self._closing = True
        for host in list(self._hosts.values()):
            self._end(host)
        ends = [asyncio.create_task(host.gone.wait()) for host in self._hosts.values()]
        if ends:
            await asyncio.wait(ends, timeout=seconds)
        for end in ends:
            end.cancel()
        for host in self._hosts.values():
            self._launcher.kill(host.host_id, host.pid)

    async def _reserve(
        self, task: Instance, isolation: Isolation, alone: bool, foremost: bool
    ) -> LaunchedHost:
        deadline, seen_changes = self._loop.time() + SLOT_WAIT_SECONDS, self._changed.count
        while True:
            chosen, granted = self._choose(task, isolation, alone, foremost)
            match chosen:
                case InHost(host_id):
                    host = self._hosts[host_id]
                    break
                case NewHost():
                    host = self._launch()
                    break
                case NoPlace(retire):
                    if alone and foremost:
                        self._room_for.add(task)
                    if retire is not None and not self._slot_comes_free:
                        self.retire(self._hosts[retire])
                    if self._loop.time() >= deadline and not alone:
                        raise NoSlotError(task, isolation.value, self._rules.slots)
                    alone = alone and self._loop.time() < deadline
                    seen_changes = await self._changed.wait(seen_changes)
        host.take(task, granted)
        return host

    @property
    def _slot_comes_free(self) -> bool:
        """Whether some host is about to end, so that no other has to be left for its slot."""
        return any(host.retiring or host.ending for host in self._hosts.values())

    def _choose(
        self, task: Instance, isolation: Isolation, alone: bool, foremost: bool
    ) -> tuple[Place, Isolation]:
        """Choose a place; also returns the isolation the task has there."""
        views = [host.view() for host in self._hosts.values()]
        slots = self._rules.slots - len(self._room_for - {task})
        if alone:
            return place_apart(task, isolation, views, slots, foremost=foremost)
        return place(task, isolation, views, slots), isolation

    def _launch(self) -> LaunchedHost:
        host = LaunchedHost(f"{self._address}/{self._kind}{next(self._numbers)}", self._loop.time())
        self._hosts[host.host_id] = host
        address, failed, spans, tls = self._address, self._failed_plugins(), self._span_endpoint, self._tls()
        spec = HostSpec(host.host_id, address, self._token, self._log_level, address, failed, spans, tls)
        log_change(log, "task host launched", host=host.host_id, worker=address)
        self._launcher.launch(spec, self._ended_elsewhere)
        return host

    def _force(self, host: LaunchedHost, now: float) -> None:
        """End by force a host that does not answer, or does not end."""
        silence = self._launch_timeout if host.session is None else self._silence
        if host.silent_for(now) > silence if host.ends_by is None else now > host.ends_by:
            log.warning("host %s does not answer and is ended by force", host.host_id)
            self._kill(host)
        elif not host.ending and (blame := self._holds.look(host, now)):
            self._blame(host, blame)
            self._kill(host)

    async def _lose_at_once(self, host: LaunchedHost, reason: str) -> None:
        """End a host whose tasks go on elsewhere before whoever ran its process knows of its end."""
        self._note_kill(host)
        if await self._launcher.kill_and_wait(host.host_id, host.pid):
            self._lose(host, reason)

    @property
    def _silence(self) -> float:
        """For how many seconds an attached host may be silent."""
        return (self._lease() or FIRST_LEASE_SECONDS) - LEASE_MARGIN_SECONDS

    def _lose(self, host: LaunchedHost, reason: str) -> None:
        if host.tasks and self._residents is not None:
            self._residents.host_lost(list(host.tasks), reason, host.blame)

    def _blame(self, host: LaunchedHost, blame: Blame) -> None:
        host.blame = blame
        log.warning("host %s is ended by force: %s", host.host_id, blame.reason)

    def _kill(self, host: LaunchedHost) -> None:
        self._note_kill(host)
        self._launcher.kill(host.host_id, host.pid)

    def _note_kill(self, host: LaunchedHost) -> None:
        host.ends_by = self._loop.time() + KILL_WAIT_SECONDS
        host.killed = True

    def _end(self, host: LaunchedHost) -> None:
        if host.ending:
            return
        if host.session is None or (host.hangs and not host.tasks):
            self._kill(host)
        else:
            host.ends_by = self._loop.time() + DRAIN_TIMEOUT_MS / 1000 + KILL_WAIT_SECONDS
            host.send(pb.AttachResponse(shutdown=pb.Shutdown(timeout_ms=DRAIN_TIMEOUT_MS)))

    def _ended_elsewhere(self, host_id: str, reason: str | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._ended, host_id, reason)

    def _ended(self, host_id: str, reason: str | None) -> None:
        host = self._hosts.pop(host_id, None)
        if host is None:
            return
        host.end()
        if host.blame is not None:
            reason = host.blame.reason
        if host.session is None:  # spares that do not even attach are not launched in a tight loop
            self._launches_from = self._loop.time() + next(self._waits)
        self._lose(host, reason or "it ended by itself")
        if reason is not None and (host.lost or host.blame or not host.ending):
            log_change(log, "task host died", logging.WARNING, host=host_id, worker=self._address, why=reason)
        else:
            log_change(log, "task host ended", host=host_id, worker=self._address)
        self.tend()
