"""The template: a process that has loaded the plugins once, and is forked for each process that needs them.

A copy is there within milliseconds and shares most of its memory with the others. A fork has only the thread
that forks, so there may be one here; code of plugins runs here while it is imported, and never again.
"""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final, NoReturn, assert_never

from copycat_executor.pipes.child import LineWriter, obey_lines
from copycat_executor.pipes.connector_messages import (
    TO_TEMPLATE,
    CopyEnded,
    CopyMade,
    MakeCopy,
    PluginLoading,
    PluginStartsThreads,
    ToTemplate,
)
from copycat_executor.pipes.messages import Ping

READ_BYTES: Final = 64 * 1024
#: Bytes of a number as text, which come with each connection.
NUMBER_BYTES: Final = 32
#: How a copy ends that did not get as far as its own work.
COPY_FAILED: Final = 5


class Loading:
    """Reports each plugin before it is loaded, and ends this process where one started threads."""

    def __init__(self, out: LineWriter) -> None:
        self._out = out
        self._latest = ""

    def begins(self, entry_point: str) -> None:
        """Note that the plugin before is loaded, and report this one."""
        self.ends()
        self._latest = entry_point
        self._out.write(PluginLoading(entry_point))

    def ends(self) -> None:
        """Note that the latest plugin is loaded."""
        if self._latest and len(list(Path("/proc/self/task").iterdir())) > 1:
            self._out.write(PluginStartsThreads(self._latest))
            os._exit(0)


class CopyMaker:
    """Makes copies of this process until the executor closes our input."""

    def __init__(
        self,
        lines: BufferedReader,
        answers: BinaryIO,
        connections: int,
        reader: int,
        be_copy: Callable[[socket.socket], NoReturn],
    ) -> None:
        """Keep our ends of the pipes.

        Args:
            lines: The executor's.
            answers: Where ours go.
            connections: File descriptor of the socket on which the connections of copies come.
            reader: Process id of the reader of our output, which is about to end.
            be_copy: Does a copy's work with its connection, and ends the copy.
        """
        self._lines = lines
        self._answers = answers
        self._out = LineWriter(answers)
        self._connections = connections
        self._be_copy = be_copy
        self._waits = select.poll()
        self._waits.register(lines, select.POLLIN)
        self._children: dict[int, int] = {}
        self._follow(reader)

    def serve(self) -> int:
        """Obey the executor; returns the exit code to end with, once no copy is left."""
        code = obey_lines(self._each_line(), TO_TEMPLATE, self._obey)
        for pid in self._children.values():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)  # its code may hold its interpreter, so that it notices nothing
        return code

    def _each_line(self) -> Iterator[bytes]:
        """Return lines as they come; the ends of copies are noticed meanwhile."""
        rest = b""
        while True:
            ready = [each for each, _ in self._waits.poll()]
            for each in ready:
                if each in self._children:
                    self._bury(each)
            if self._lines.fileno() in ready:
                piece = self._lines.read1(READ_BYTES)
                if not piece:
                    break
                *whole, rest = (rest + piece).split(b"\n")
                yield from (line + b"\n" for line in whole)
        if rest:
            yield rest

    def _obey(self, message: ToTemplate) -> None:
        call = message.call
        match call:
            case Ping():
                self._out.reply(message.number, call, lambda: None, str)
            case MakeCopy(number=number):
                self._out.reply(message.number, call, lambda: self._copy(number), str)
            case _:
                assert_never(call)

    def _copy(self, number: int) -> None:
        """Fork.

        Raises:
            OSError: There is no memory, or no process, to be had.
        """
        with self._connection(number) as connection:
            pid = os.fork()
            if pid == 0:
                self._work_as_copy(connection)
        self._follow(pid)
        self._out.write(CopyMade(number, pid))

    def _follow(self, pid: int) -> None:
        """Notice when a child ends."""
        ended = os.pidfd_open(pid)
        self._children[ended] = pid
        self._waits.register(ended, select.POLLIN)

    def _connection(self, number: int) -> socket.socket:
        """Return the connection of this number, which was sent before it; others are closed."""
        connections = socket.socket(fileno=self._connections)
        try:
            while True:
                text, (found,), _, _ = socket.recv_fds(connections, NUMBER_BYTES, 1)
                os.set_inheritable(found, False)
                connection = socket.socket(fileno=found)
                if int(text) == number:
                    return connection
                connection.close()
        finally:
            connections.detach()

    def _work_as_copy(self, connection: socket.socket) -> NoReturn:
        try:
            os.setpgid(0, 0)
            self._lines.close()
            self._answers.close()
            os.close(self._connections)
            for each in self._children:
                os.close(each)
            self._be_copy(connection)
        finally:
            os._exit(COPY_FAILED)

    def _bury(self, ended: int) -> None:
        pid = self._children.pop(ended)
        self._waits.unregister(ended)
        os.close(ended)
        _, status = os.waitpid(pid, 0)
        self._out.write(CopyEnded(pid, os.waitstatus_to_exitcode(status)))
