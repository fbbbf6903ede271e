"""A child process with typed messages: started, asked under deadlines, replaced when it dies or hangs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from copycat_connect.errors import CopycatError
from copycat_connect.retry import RetryPolicy

from copycat_executor.children.open_calls import OpenCall, OpenCalls
from copycat_executor.children.piped_process import PipedProcess
from copycat_executor.domain.errors import PluginHangsError, PluginProcessGoneError, ProcessStartsError
from copycat_executor.pipes.authors import TAG_MARK
from copycat_executor.pipes.lines import BadLineError, LineReader
from copycat_executor.pipes.messages import (
    Answer,
    Ask,
    Call,
    Ping,
    PipeMessage,
    Ready,
    Refusal,
    Reply,
    SetLevel,
    StageReached,
    T,
)
from copycat_executor.pipes.processor_time import busiest

log = logging.getLogger(__name__)

#: A call that takes longer than this makes us ask whether the process answers at all.
PING_AFTER_SECONDS: Final = 0.5
#: Time for an answer to that: beyond it some author code holds the interpreter.
PING_TIMEOUT_SECONDS: Final = 5.0
#: It certainly does where it alone used so much of a processor meanwhile, however busy the machine is.
HELD_SECONDS: Final = 3.0
#: Between two looks at that.
LOOK_INTERVAL_SECONDS: Final = 0.2
#: A process that nobody calls is asked as often, and has longer: nobody waits for it.
IDLE_PING_INTERVAL_SECONDS: Final = 5.0
IDLE_PING_TIMEOUT_SECONDS: Final = 10.0
#: Waits before a process that ended is started again.
RESTARTS: Final = RetryPolicy(first=0.05, factor=4.0, ceiling=10.0)
#: A process that lived longer than this is started again at once.
STEADY_SECONDS: Final = 30.0

#: How a process ends that the kernel, or somebody, has killed.
KILLED: Final = "exit code -9"
SILENT: Final = ": it answered nothing for {:.1f} s, as when code that it runs holds the interpreter"

E = TypeVar("E")
E_contra = TypeVar("E_contra", contravariant=True)


class Owner(Protocol[E_contra]):
    """What makes one child process different from another; `E_contra` is the union of its own events."""

    def first_message(self) -> PipeMessage | None:
        """Return what a new process is sent before anything else, if anything is."""

    def heard(self, event: E_contra) -> None:
        """Handle an event of the child, in the order in which it wrote them; must not block."""

    def silence_limit_seconds(self) -> float | None:
        """Return how long the process may take to write its next line; None for as long as it likes."""

    def fell_silent(self) -> None:
        """Note that it took longer, and is ended for it."""

    def held(self, busiest: str | None) -> None:
        """Note that it is ended since it answers nothing; `busiest` names the thread that computes alone."""

    def ended(
        self, ending: str, authors: frozenset[str], *, outside: bool, served: bool
    ) -> PluginProcessGoneError:
        """Note that the process ended, and how; another is started. Returns the error of open calls.

        Args:
            ending: How it ended, for people.
            authors: Whose code ran for open calls.
            outside: Something beside us and the process itself ended it, or had stopped it.
            served: It had taken calls.
        """


@dataclass(frozen=True, slots=True)
class ChildProgram(Generic[E]):
    """What a child process runs."""

    start: Callable[[], Awaitable[PipedProcess]]
    """Starts it."""
    name: str
    """What it deals with, for logs."""
    messages: LineReader[E | Ready | Reply]
    """Reads what it writes."""
    grace_seconds: float = 0.0
    """How long it may take to end by itself when it is no longer wanted."""
    start_seconds: float | None = None
    """How long it may take to say that it takes calls; None for as long as it likes."""


class ChildProcess(Generic[E]):
    """Runs one process at a time; when it dies, the calls under way fail and another takes its place."""

    def __init__(self, program: ChildProgram[E], owner: Owner[E]) -> None:
        """Prepare; `run` starts it."""
        self._program = program
        self._owner = owner
        self._calls = OpenCalls()
        self._ready = asyncio.Event()
        self._late = asyncio.Event()
        self._process: PipedProcess | None = None
        self._killed = self._stopped = self._served = self._checking = False
        self._silence = ""
        self._threads = 0
        self._levels: dict[str, SetLevel] = {}

    async def ready(self) -> None:
        """Wait until a process takes calls."""
        await self._ready.wait()

    async def run(self) -> None:
        """Keep a process running until cancelled."""
        try:
            await self._live()
        finally:
            self._calls.fail(PluginProcessGoneError("it is not needed any more"))

    async def call(
        self,
        call: Call[T],
        stage: str,
        deadline_seconds: float,
        authors: Sequence[str] = (),
        *,
        start_counts: bool = True,
    ) -> T:
        """Call and wait; `stage` names what hangs when the deadline passes, `authors` whose code runs.

        Unless `start_counts`, the deadline begins when a process takes calls, however long it takes to start.

        Raises:
            PluginError: Author code raised.
            ProcessStartsError: No process took calls within the deadline.
            PluginHangsError: It did not come back in time; it still runs.
            PluginProcessGoneError: The process died meanwhile.
        """
        opened, loop = self._calls.new(call, stage, authors), asyncio.get_running_loop()
        ends = loop.time() + deadline_seconds
        self._calls.add(opened)
        try:
            await self._started(opened, deadline_seconds if start_counts else None)
            async with asyncio.timeout_at(ends if start_counts else loop.time() + deadline_seconds):
                return await self._answered(opened)
        except TimeoutError:
            if opened.result.done():  # it came at the last moment
                return opened.result.result()
            self._late.set()
            raise PluginHangsError(opened.stage, opened.began) from None
        finally:
            self._calls.remove(opened)

    def send(self, message: PipeMessage) -> None:
        """Send what is not answered; lost while there is no process."""
        if self._ready.is_set():
            self._write(message)

    def set_level(self, logger: str, level: str) -> None:
        """Set a log level in the process and in each that takes its place."""
        change = SetLevel(logger, level)
        self._levels.pop(logger, None)  # the order counts: a level is also that of the loggers below
        self._levels[logger] = change
        self.send(change)

    def at_rest(self) -> bool:
        """Return whether it takes calls, and has no more threads than before the first one."""
        process = self._process if self._ready.is_set() else None
        return process is not None and 0 < process.threads <= self._threads

    def kill(self) -> None:
        """End the process, whatever it does; another takes its place."""
        if self._process is not None:
            self._ready.clear()
            self._killed = True
            self._process.kill()

    async def _live(self) -> None:
        loop, waits = asyncio.get_running_loop(), RESTARTS.waits()
        while True:
            began = loop.time()
            try:
                process = await self._program.start()
            except (OSError, CopycatError) as error:  # too many files, too little memory: it may pass
                log.warning("a process of the %s cannot be started: %s", self._program.name, error)
                await asyncio.sleep(next(waits))
                continue
            ending = await self._one_life(process)
            if loop.time() - began > STEADY_SECONDS:
                waits = RESTARTS.waits()
            log.warning("the process of the %s ended (%s) and is started again", self._program.name, ending)
            outside = self._stopped or (ending == KILLED and not self._killed)
            gone = self._owner.ended(
                ending + self._silence, self._calls.authors(), outside=outside, served=self._served
            )
            self._calls.fail(gone)
            await asyncio.sleep(next(waits))

    async def _started(self, opened: OpenCall[T], within_seconds: float | None) -> None:
        """Wait until a process takes calls; the end of one before fails the call as any other."""
        if self._ready.is_set():
            return
        ready = asyncio.ensure_future(self._ready.wait())
        try:
            await asyncio.wait(
                (ready, opened.result), timeout=within_seconds, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            ready.cancel()
        if opened.result.done():
            opened.result.result()
        if not self._ready.is_set():
            raise ProcessStartsError(self._program.name, opened.began)

    async def _answered(self, opened: OpenCall[T]) -> T:
        opened.begin()
        self._write(Ask(opened.number, opened.call))
        while True:
            done, _ = await asyncio.wait((opened.result,), timeout=PING_AFTER_SECONDS)
            if done:
                return opened.result.result()
            if not self._checking:  # of many calls that take long, one is enough to ask
                self._checking = True
                try:
                    await self._check_alive(PING_TIMEOUT_SECONDS)
                finally:
                    self._checking = False

    async def _check_idle(self) -> None:
        """Notice also without a call that the process hangs: what runs there seems to go on, and does not.

        A call that was given up is a reason to look at once.
        """
        while True:
            timeout = PING_TIMEOUT_SECONDS
            try:
                await asyncio.wait_for(self._late.wait(), IDLE_PING_INTERVAL_SECONDS)
            except TimeoutError:
                timeout = IDLE_PING_TIMEOUT_SECONDS
            self._late.clear()
            if self._ready.is_set():
                await self._check_alive(timeout)

    async def _check_alive(self, timeout_seconds: float) -> None:
        """End a process that does not even answer a ping; its end then fails all calls."""
        process, ping = self._process, self._calls.new(Ping(), "")
        if process is None:
            return
        used, began = process.thread_seconds(), asyncio.get_running_loop().time()
        self._calls.add(ping)
        try:
            self._write(Ask(ping.number, ping.call))
            answers = await self._answers(ping, process, used, timeout_seconds)
            if not answers and process is self._process and not self._killed:
                log.warning("the process of the %s does not answer and is replaced", self._program.name)
                self._stopped = process.stopped()
                alone = None if self._stopped else busiest(used, process.thread_seconds())
                self._owner.held(alone and alone[0])
                self._silence = SILENT.format(asyncio.get_running_loop().time() - began)
                self.kill()
        except PluginProcessGoneError:
            pass  # its callers hear the same
        finally:
            self._calls.remove(ping)

    async def _answers(
        self, ping: OpenCall[None], process: PipedProcess, used: Mapping[str, float], timeout_seconds: float
    ) -> bool:
        """Wait for the answer to a ping; False once there will be none."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + timeout_seconds
        while (left := ends - loop.time()) > 0:
            done, _ = await asyncio.wait((ping.result,), timeout=min(left, LOOK_INTERVAL_SECONDS))
            if done:
                ping.result.result()
                return True
            if holds(used, process.thread_seconds()):
                return False
        return False

    async def _one_life(self, process: PipedProcess) -> str:
        self._process, self._silence = process, ""
        self._killed = self._stopped = self._served = False
        checks = asyncio.create_task(self._check_idle())
        try:
            if (first := self._owner.first_message()) is not None:
                process.write(first)
            await self._read(process)
            return await process.ended()
        finally:
            checks.cancel()
            self._ready.clear()
            self._process = None
            await process.end(self._program.grace_seconds)

    async def _read(self, process: PipedProcess) -> None:
        """Read what it writes to its end; kill it when it is silent for too long or writes no message."""
        name = self._program.name
        try:
            while line := await process.read_line(self._silence_limit_seconds()):
                self._take(self._program.messages.read(line))
        except TimeoutError:
            self._owner.fell_silent()
            self.kill()
        except BadLineError as error:
            log.warning("the process of the %s is ended: its line is not a message (%s)", name, error)
            self.kill()

    def _silence_limit_seconds(self) -> float | None:
        limit = self._owner.silence_limit_seconds()
        return self._program.start_seconds if limit is None and not self._served else limit

    def _take(self, message: E | Ready | Reply) -> None:
        match message:
            case Ready():
                self._served = True
                self._threads = 0 if self._process is None else self._process.threads
                self._ready.set()
                for level in self._levels.values():
                    self._write(level)
            case Answer() | Refusal() | StageReached():
                self._calls.settle(message)
            case _:
                self._owner.heard(message)

    def _write(self, message: PipeMessage) -> None:
        if self._process is not None:
            self._process.write(message)


def holds(before: Mapping[str, float], after: Mapping[str, float]) -> bool:
    """Return whether author code surely held the interpreter in between: nothing else got a turn for long."""
    found = busiest(before, after)
    return found is not None and found[0].startswith(TAG_MARK) and found[1] >= HELD_SECONDS
