"""The standard output and error of a process with author code: pipes that another process reads.

Texts that child processes, C code or a crash write pass no Python of ours. The reader is forked from the
process and outlives it, so that its last words come through; it knows the secrets, and writes log lines that
bear the names of the process and of its connectors.
"""

from __future__ import annotations

import codecs
import ctypes
import gc
import json
import logging
import os
import select
import signal
import sys
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn, TextIO

from copycat_connect.config.secrets import HIDDEN_HERE

from copycat_telemetry.context import log_context
from copycat_telemetry.logs import JsonFormatter
from copycat_telemetry.printing import OutputLines, PrintAllowance, left_out

READ_BYTES: Final = 64 * 1024
STDIN, STDOUT, STDERR = 0, 1, 2
#: Sent to whole groups of processes; the reader ends when all that write have ended.
OUTLIVED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Places of the bounds of a process's arguments in /proc/self/stat, counted from after its name.
ARGUMENTS_START, ARGUMENTS_END = 45, 46
LOGGER: Final = "output"
#: Connectors that are named in lines of which only the process is known.
MAX_NAMED: Final = 5


class TakenOutput:
    """This process's end: what it had before, and what the reader learns."""

    def __init__(self, stdout: int, stderr: int, control: int, reader: int) -> None:
        """Use the file descriptors of the former streams and of the reader's control."""
        self.reader = reader
        """Process id of the reader, a child of this process."""
        self.stdout: TextIO = os.fdopen(stdout, "w", buffering=1, encoding="utf-8", errors="backslashreplace")
        """Where standard output went."""
        self.stderr: TextIO = os.fdopen(stderr, "w", buffering=1, encoding="utf-8", errors="backslashreplace")
        """Where standard error went: log lines go there."""
        self._control = control
        self._lock = threading.Lock()

    def hide(self, found: Mapping[str, str]) -> None:
        """Have the reader hide these values; what is written after this returns does not show them."""
        self._tell({"hide": dict(found)})

    def about(self, connectors: Iterable[str]) -> None:
        """Have the reader name the connectors in this process."""
        names = sorted(set(connectors))
        said = ", ".join(names) if len(names) <= MAX_NAMED else f"more than {MAX_NAMED}"
        self._tell({"about": {"connector" if len(names) == 1 else "connectors": said} if names else {}})

    def give_back(self) -> None:
        """Write to the former streams again; the reader ends once nobody else writes to it."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        with self._lock:
            os.dup2(self.stdout.fileno(), STDOUT)
            os.dup2(self.stderr.fileno(), STDERR)
            os.close(self._control)
            self._control = -1  # what is sent from now on goes nowhere
            self.stdout.close()
            self.stderr.close()

    def _tell(self, message: Mapping[str, object]) -> None:
        left = json.dumps(message).encode() + b"\n"
        with self._lock, suppress(OSError):  # without its reader this process prints into nothing
            while left:
                left = left[os.write(self._control, left) :]


def take_output(service: str, **fields: str) -> TakenOutput:
    """Have all that this process, and what it starts, writes to its standard streams read by another process.

    To be called before there are threads or secrets.
    """
    output, output_end = os.pipe()
    control, control_end = os.pipe()
    reader = os.fork()
    if reader == 0:
        _be_reader(output, control, service, fields)
    os.close(output)
    os.close(control)
    taken = TakenOutput(os.dup(STDOUT), os.dup(STDERR), control_end, reader)
    os.dup2(output_end, STDOUT)
    os.dup2(output_end, STDERR)
    os.close(output_end)
    HIDDEN_HERE.tell(taken.hide)
    return taken


def _be_reader(output: int, control: int, service: str, fields: Mapping[str, str]) -> NoReturn:
    try:
        gc.disable()  # it would write into each page that is shared
        for each in OUTLIVED:
            signal.signal(each, signal.SIG_IGN)
        _close_all_but({STDERR, output, control})
        call_process(f"copycat-output of {service} {' '.join(fields.values())}")
        _Reader(output, control, service, fields).work()
    finally:
        os._exit(0)


class _Reader:
    """Reads to the end what a process and its children write."""

    def __init__(self, output: int, control: int, service: str, fields: Mapping[str, str]) -> None:
        self._output, self._control = output, control
        self._said = b""
        self._fields = dict(fields)
        self._connectors: dict[str, str] = {}
        self._formatter = JsonFormatter(service)
        self._allowance = PrintAllowance(self._note)
        self._lines = OutputLines(self._say, lambda: self._allowance)
        log_context.set({})

    def work(self) -> None:
        """Read until nobody can write any more."""
        os.set_blocking(self._control, False)
        decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        waits = select.poll()
        for each in (self._output, self._control):
            waits.register(each, select.POLLIN)
        while True:
            ready = {each for each, _ in waits.poll()}
            piece = os.read(self._output, READ_BYTES) if self._output in ready else None
            # After the output was read: what it may not show was sent before it was written.
            if not self._heed_control() and self._control in ready:
                waits.unregister(self._control)
            if piece is not None:
                self._lines.feed(decoder.decode(piece, final=not piece))
                if not piece:
                    break
        self._lines.end()
        self._allowance.note(now=True)

    def _heed_control(self) -> bool:
        """Carry out a message of the process; False when it sends nothing any more."""
        with suppress(BlockingIOError):
            while piece := os.read(self._control, READ_BYTES):
                *messages, self._said = (self._said + piece).split(b"\n")
                for message in map(json.loads, messages):
                    HIDDEN_HERE.add(message.get("hide", {}))
                    if "about" in message:
                        self._connectors = message["about"]
            return False
        return True

    def _note(self, characters: int) -> None:
        text = left_out(characters)
        self._write(logging.LogRecord(LOGGER, logging.WARNING, __file__, 0, "%s", (text,), None))

    def _say(self, line: str) -> None:
        self._write(logging.LogRecord(LOGGER, logging.INFO, __file__, 0, "%s", (line,), None))

    def _write(self, record: logging.LogRecord) -> None:
        record.fields = {**self._fields, **self._connectors}
        left = self._formatter.format(record).encode(errors="backslashreplace") + b"\n"
        with suppress(OSError):  # where nobody reads us, those who write must still not wait
            while left:
                left = left[os.write(STDERR, left) :]


def _close_all_but(kept: set[int]) -> None:
    """Close what others wait to see closed, such as the connection to Spark."""
    for each in [int(each.name) for each in Path("/proc/self/fd").iterdir()]:
        if each not in kept:
            with suppress(OSError):  # the listing's own
                os.close(each)


def call_process(name: str) -> None:
    """Show a name in lists of processes, in place of the arguments of the process it was forked from."""
    with suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        start, end = int(fields[ARGUMENTS_START]), int(fields[ARGUMENTS_END])
        if 0 < start < end:
            text = name.encode(errors="replace")[: end - start - 1]
            ctypes.memset(start, 0, end - start)
            ctypes.memmove(start, text, len(text))
