"""The process of the connectors, seen from outside: started, asked under deadlines, replaced when it dies."""

from __future__ import annotations

import asyncio
import itertools
import logging
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from copycat_connect.retry import RetryPolicy

from copycat_executor.children import plugin_loading
from copycat_executor.children.plugin_errors import PluginError
from copycat_executor.connectorhost.lines import from_line, to_line
from copycat_executor.domain.errors import PluginHangsError, PluginProcessGoneError

log = logging.getLogger(__name__)

MODULE = "copycat_executor.connectorhost"
LINE_BYTES = 64 * 1024 * 1024
#: A call that takes longer than this makes us ask whether the process answers at all, seconds.
PATIENCE = 2.0
#: Time for an answer to that, seconds: beyond it some plugin holds the interpreter.
PING = 5.0
AGAIN = RetryPolicy(first=0.05, factor=4.0, ceiling=10.0)
STEADY = 30.0


@dataclass(slots=True)
class _Call:
    """A call under way."""

    answer: asyncio.Future[Any]
    stage: str
    began: str


class ProcessListener(Protocol):
    """Who hears what a process says without having been called."""

    def heard(self, event: Mapping[str, Any]) -> None:
        """Something happened to an object in the process, or one asks for something."""

    def process_ended(self) -> None:
        """The process ended, and all objects in it; another is started."""


class _Nobody:
    """Listens until somebody else does: a process that was not called yet says nothing of importance."""

    def heard(self, event: Mapping[str, Any]) -> None:
        pass

    def process_ended(self) -> None:
        pass


class ConnectorProcess:
    """Runs one process at a time; whoever waits for a process that dies hears it."""

    def __init__(
        self,
        worker: Mapping[str, str],
        *,
        module: str = MODULE,
        what: str = "connectors",
        grace: float = 0.0,
    ) -> None:
        """Take the worker's properties, which the process gets.

        `module` is what the process runs, `what` its name in logs, `grace` how many seconds it may take to
        end by itself when it is no longer wanted.
        """
        self._command = (sys.executable, "-m", module)
        self._what = what
        self._grace = grace
        self._worker = dict(worker)
        self._listener: ProcessListener = _Nobody()
        self._ids = itertools.count(1)
        self._calls: dict[int, _Call] = {}
        self._ready = asyncio.Event()
        self._process: Process | None = None
        self._standing: dict[str, Mapping[str, Any]] = {}
        self._loading = plugin_loading.PluginLoading()

    def listen(self, listener: ProcessListener) -> None:
        """Have what the process says heard by `listener`; call it once, before the first call into it."""
        self._listener = listener

    def failed_plugins(self) -> Mapping[str, str]:
        """Return the plugins not to load, by entry point, and why; complete once `loaded` has returned."""
        return self._loading.failed

    async def loaded(self) -> None:
        """Wait until a process has loaded the plugins and takes calls."""
        await self._ready.wait()

    async def run(self) -> None:
        """Keep a process running until cancelled."""
        loop, waits = asyncio.get_running_loop(), AGAIN.waits()
        while True:
            began = loop.time()
            ending = await self._one_life()
            if loop.time() - began > STEADY:
                waits = AGAIN.waits()
            log.warning("the process of the %s ended (%s) and is started again", self._what, ending)
            self._listener.process_ended()
            await asyncio.sleep(next(waits))

    async def call(self, name: str, stage: str, deadline: float, **arguments: Any) -> Any:
        """Call and wait; `stage` names what hangs when the deadline (seconds) passes.

        Raises:
            PluginError: Author code raised.
            PluginHangsError: It did not come back in time; it still runs.
            PluginProcessGoneError: The process died meanwhile.
        """
        number = next(self._ids)
        call = _Call(asyncio.get_running_loop().create_future(), stage, _now())
        try:
            async with asyncio.timeout(deadline):
                await self._ready.wait()
                self._calls[number] = call
                self._write({"id": number, "call": name, **arguments})
                return await self._patiently(call.answer)
        except TimeoutError:
            raise PluginHangsError(call.stage, call.began) from None
        finally:
            self._calls.pop(number, None)

    def tell(self, name: str, **arguments: Any) -> None:
        """Call without waiting for an answer; lost while there is no process."""
        if self._ready.is_set():
            self._write({"call": name, **arguments})

    def tell_always(self, subject: str, name: str, **arguments: Any) -> None:
        """Tell the process and each that takes its place; it replaces what was told of the subject before."""
        self._standing.pop(subject, None)
        self._standing[subject] = {"call": name, **arguments}
        self.tell(name, **arguments)

    def kill(self) -> None:
        """End the process, whatever it does; another takes its place."""
        if self._process is not None and self._process.returncode is None:
            self._ready.clear()
            self._process.kill()

    async def _patiently(self, answer: asyncio.Future[Any]) -> Any:
        while True:
            done, _ = await asyncio.wait((answer,), timeout=PATIENCE)
            if done:
                return answer.result()
            await self._check_alive()

    async def _check_alive(self) -> None:
        """End a process that does not even answer a ping; its end then fails all calls."""
        process, number = self._process, next(self._ids)
        pong = _Call(asyncio.get_running_loop().create_future(), "", "")
        self._calls[number] = pong
        try:
            self._write({"id": number, "call": "ping"})
            await asyncio.wait_for(pong.answer, PING)
        except TimeoutError:
            log.warning("the process of the %s does not answer and is replaced", self._what)
            if process is self._process:
                self.kill()
        except PluginProcessGoneError:
            pass  # its callers hear the same
        finally:
            self._calls.pop(number, None)

    async def _one_life(self) -> str:
        process = await asyncio.create_subprocess_exec(
            *self._command, stdin=PIPE, stdout=PIPE, limit=LINE_BYTES, process_group=0
        )
        self._process = process
        try:
            self._write({"worker": self._worker, "failed": self._loading.failed})
            await self._read(process)
            ending = f"exit code {await process.wait()}"
            self._loading.process_ended(ending)
            return ending
        finally:
            self._ready.clear()
            self._process = None
            if process.stdin is not None:
                process.stdin.close()
            await self._end(process)
            self._fail_calls(f"exit code {process.returncode}")

    async def _end(self, process: Process) -> None:
        if self._grace and process.returncode is None:
            await asyncio.wait((asyncio.ensure_future(process.wait()),), timeout=self._grace)
        if process.returncode is None:
            process.kill()
        await process.wait()

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None  # a pipe
        while line := await self._line(process.stdout):
            self._take(from_line(line))

    async def _line(self, answers: asyncio.StreamReader) -> bytes:
        """Return the next line, nothing at the end; ends a process that hangs while it loads a plugin."""
        if not self._loading.under_way:
            return await answers.readline()
        try:
            async with asyncio.timeout(plugin_loading.LOAD_TIMEOUT_SECONDS):
                return await answers.readline()
        except TimeoutError:
            self._loading.hangs()
            self.kill()
            return b""

    def _take(self, message: Mapping[str, Any]) -> None:
        if "event" in message:
            match message["event"]:
                case "ready":
                    self._loading.finished(message.get("failed", {}))
                    self._ready.set()
                    for standing in self._standing.values():
                        self._write(standing)
                case "loading":
                    self._loading.begins(message["entry_point"])
                case _:
                    self._listener.heard(message)
            return
        call = self._calls.get(message["id"])
        if call is None or call.answer.done():
            return  # its caller waits no longer
        if "stage" in message:
            call.stage, call.began = message["stage"], message["began"]
        elif "error" in message:
            call.answer.set_exception(PluginError(message["error"]))
        else:
            call.answer.set_result(message["result"])

    def _fail_calls(self, ending: str) -> None:
        for call in self._calls.values():
            if not call.answer.done():
                call.answer.set_exception(PluginProcessGoneError(ending))

    def _write(self, message: Mapping[str, Any]) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(ConnectionError):  # a dead process is noticed where it is read
                self._process.stdin.write(to_line(message))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
