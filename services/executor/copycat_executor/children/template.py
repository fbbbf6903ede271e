"""The template seen from outside: the process that has loaded the plugins, and the copies made of it."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, assert_never

from copycat_executor.children import plugin_watch
from copycat_executor.children.child_process import ChildProcess, ChildProgram
from copycat_executor.children.piped_process import PipedProcess
from copycat_executor.children.plugin_watch import PluginWatch
from copycat_executor.domain.errors import PluginProcessGoneError
from copycat_executor.pipes.connector_messages import (
    FROM_TEMPLATE,
    BeginConnectors,
    CopyEnded,
    CopyMade,
    MakeCopy,
    PluginLoading,
    PluginsLoaded,
    PluginStartsThreads,
    TemplateEvent,
)
from copycat_executor.pipes.lines import MAX_LINE_BYTES

MODULE: Final = "copycat_executor.connectorhost"
#: For a fork, on a busy machine; whoever waits for it has a deadline of its own.
COPY_TIMEOUT_SECONDS: Final = 30.0
#: For the last lines of a copy that has ended.
LAST_LINES_SECONDS: Final = 0.2


class _Copy:
    """A copy, which is no child of ours: the template reports how it ended, the kernel that it did."""

    def __init__(self, pid: int, output: asyncio.StreamReader) -> None:
        self.pid = pid
        self._output = output
        self._loop = asyncio.get_running_loop()
        self._code: asyncio.Future[int | None] = self._loop.create_future()
        self._orphaned = self._gone = False
        self._file: int | None = None
        with suppress(OSError):  # it has ended already, or there are too many open files
            self._file = os.pidfd_open(pid)
            self._loop.add_reader(self._file, self._notice)

    @property
    def returncode(self) -> int | None:
        """Its exit code once that is known."""
        return self._code.result() if self._code.done() else None

    def kill(self) -> None:
        """End it by force."""
        with suppress(OSError):
            if self._file is not None:
                signal.pidfd_send_signal(self._file, signal.SIGKILL)
            elif not self._gone:
                os.kill(self.pid, signal.SIGKILL)

    async def wait(self) -> int | None:
        """Wait until it has ended; returns its exit code, None where its template ended before."""
        return await asyncio.shield(self._code)

    def ended(self, code: int | None) -> None:
        """Note how it ended."""
        if not self._gone:
            self._notice()
        if not self._code.done():
            self._code.set_result(code)

    def orphaned(self) -> None:
        """Note that nobody will report how it ends."""
        self._orphaned = True
        if self._gone or self._file is None:
            self.ended(None)

    def _notice(self) -> None:
        """Note that it has ended; a process that it left behind may hold its connection."""
        self._gone = True
        if self._file is not None:
            self._loop.remove_reader(self._file)
            os.close(self._file)
            self._file = None
        self._loop.call_later(LAST_LINES_SECONDS, self._output.feed_eof)
        if self._orphaned:
            self.ended(None)


class _Owner:
    """What is special about this child process: it loads plugins, any of which may end it or hold it up."""

    def __init__(self, worker: Mapping[str, str]) -> None:
        self.loading = PluginWatch()
        self.on_spark: frozenset[str] = frozenset()
        self.connections = -1
        self.wanted: dict[int, asyncio.StreamReader] = {}
        self.made: dict[int, _Copy] = {}
        self._copies: dict[int, _Copy] = {}
        self._worker = worker

    def first_message(self) -> BeginConnectors:
        return BeginConnectors(self._worker, self.loading.failed, self.loading.late, self.connections)

    def heard(self, event: TemplateEvent) -> None:
        match event:
            case PluginLoading(entry_point=entry_point):
                self.loading.begins(entry_point)
            case PluginStartsThreads(entry_point=entry_point):
                self.loading.starts_threads(entry_point)
            case PluginsLoaded(failed=failed, on_spark=on_spark):
                self.loading.finished(failed)
                self.on_spark = frozenset(on_spark)
            case CopyMade(number=number, pid=pid):
                if (output := self.wanted.pop(number, None)) is not None:
                    self.made[number] = self._copies[pid] = _Copy(pid, output)
            case CopyEnded(pid=pid, code=code):
                if (copy := self._copies.pop(pid, None)) is not None:
                    copy.ended(code)
            case _:
                assert_never(event)

    def silence_limit_seconds(self) -> float | None:
        return plugin_watch.LOAD_TIMEOUT_SECONDS if self.loading.under_way else None

    def fell_silent(self) -> None:
        self.loading.hangs()

    def held(self, busiest: str | None) -> None:
        pass

    def ended(
        self, ending: str, authors: frozenset[str], *, outside: bool, served: bool
    ) -> PluginProcessGoneError:
        self.loading.process_ended(ending)
        self.orphan()
        return PluginProcessGoneError(ending)

    def orphan(self) -> None:
        """Note that nobody reports any more how copies end."""
        orphans, self._copies = self._copies, {}
        for copy in orphans.values():
            copy.orphaned()


class Template:
    """The process that has loaded the plugins, and the one that takes its place when it ends."""

    def __init__(self, worker: Mapping[str, str], *, module: str = MODULE) -> None:
        """Keep the worker's properties, which the process gets; `module` is what it runs."""
        self._module = module
        self._owner = _Owner(dict(worker))
        program: ChildProgram[TemplateEvent] = ChildProgram(self._start, "connectors", FROM_TEMPLATE)
        self._child = ChildProcess(program, self._owner)
        self._connections: socket.socket | None = None
        self._numbers = itertools.count(1)

    def failed_plugins(self) -> Mapping[str, str]:
        """Return the plugins not to load, by entry point, and why; complete once `loaded` has returned."""
        return self._owner.loading.failed

    def on_spark(self) -> frozenset[str]:
        """Return the names of connectors whose records Spark reads; complete once `loaded` has returned."""
        return self._owner.on_spark

    async def loaded(self) -> None:
        """Wait until a process has loaded the plugins."""
        await self._child.ready()

    async def run(self) -> None:
        """Keep a process running until cancelled; copies end with it, or soon after."""
        try:
            await self._child.run()
        finally:
            self._owner.orphan()
            self._close_connections()

    def kill(self) -> None:
        """End the process, whatever it does; another takes its place, and copies go on."""
        self._child.kill()

    async def copy(self) -> PipedProcess:
        """Make a copy, once a process has loaded the plugins.

        Raises:
            OSError: There are too many processes or open files, or there is too little memory.
            CopycatError: The template could not fork, or ended meanwhile.
        """
        await self._child.ready()
        ours, theirs = socket.socketpair()
        output, given = await asyncio.open_unix_connection(sock=ours, limit=MAX_LINE_BYTES)
        number = next(self._numbers)
        self._owner.wanted[number] = output
        try:
            with theirs:
                self._send(number, theirs)
            await self._child.call(
                MakeCopy(number), "making a copy", COPY_TIMEOUT_SECONDS, start_counts=False
            )
            return PipedProcess(self._owner.made.pop(number), output, given)
        except BaseException:
            given.close()  # which ends the copy, if there is one
            raise
        finally:
            self._owner.wanted.pop(number, None)
            self._owner.made.pop(number, None)

    def _send(self, number: int, connection: socket.socket) -> None:
        if self._connections is None:
            raise PluginProcessGoneError("it ended before")
        socket.send_fds(self._connections, [b"%d" % number], [connection.fileno()])

    async def _start(self) -> PipedProcess:
        self._close_connections()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)  # nothing here waits for a template that hangs
        self._connections, self._owner.connections = ours, theirs.fileno()
        with theirs:
            return await PipedProcess.start(self._module, (theirs.fileno(),))

    def _close_connections(self) -> None:
        if self._connections is not None:
            self._connections.close()
            self._connections = None
