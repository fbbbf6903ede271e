"""A child process's end of its pipes: lines in, lines out."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable
from io import BufferedReader
from typing import BinaryIO, Final

from copycat_connect.errors import ConnectError

from copycat_executor.pipes.failures import Declared, failure
from copycat_executor.pipes.lines import MAX_LINE_BYTES, BadLineError, LineReader, M, to_line
from copycat_executor.pipes.messages import Answer, Call, PipeMessage, Refusal, T

log = logging.getLogger(__name__)

BAD_LINE_EXIT_CODE: Final = 3
Scrub = Callable[[str], str]


def take_pipes() -> tuple[BufferedReader, BinaryIO]:
    """Keep our pipes from author code: what it prints goes to stderr, what it reads is empty.

    Returns the lines of the executor, and where ours go.
    """
    lines, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return lines, answers


def read_first(lines: BinaryIO, reader: LineReader[M]) -> M:
    """Return the first message.

    Raises:
        SystemExit: The line is not that message, which the log says.
    """
    try:
        return reader.read(lines.readline())
    except BadLineError as error:
        _log_bad_line(error)
        raise SystemExit(BAD_LINE_EXIT_CODE) from None


def obey_lines(lines: Iterable[bytes], reader: LineReader[M], obey: Callable[[M], None]) -> int:
    """Pass each message to `obey` until the executor closes the pipe; returns the exit code to end with.

    A line that is not a message ends this early, and the log says so: nothing after it can be trusted.
    """
    for line in lines:
        try:
            message = reader.read(line)
        except BadLineError as error:
            _log_bad_line(error)
            return BAD_LINE_EXIT_CODE
        obey(message)
    return 0


class LineWriter:
    """Writes lines to the executor, each of them whole, from any thread."""

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()

    def write(self, message: PipeMessage) -> None:
        """Write one line and flush it.

        Raises:
            ConnectError: The executor does not read lines of this length; nothing was written.
        """
        line = to_line(message)
        if len(line) > MAX_LINE_BYTES:
            text = (
                f"The executor takes answers of at most {MAX_LINE_BYTES} bytes, and this one has {len(line)}"
            )
            raise ConnectError(text)
        with self._lock:
            self._pipe.write(line)
            self._pipe.flush()

    def reply(
        self,
        number: int,
        call: Call[T],
        work: Callable[[], T],
        scrub: Scrub,
        declared: Callable[[], Declared] = dict,
    ) -> None:
        """Carry out a call and write its answer; whatever it raises is written as its failure.

        Args:
            number: The call's number.
            call: The call; only its type counts here, so that `work` returns what its caller expects.
            work: Carries it out.
            scrub: Takes secrets out of the texts of a failure.
            declared: Returns what the plugin says of exceptions.
        """
        del call
        try:
            self.write(Answer(number, work()))
        except BaseException as error:  # the top of the call: an author may raise anything, SystemExit too
            self.refuse(number, error, scrub, declared())

    def refuse(
        self,
        number: int,
        error: BaseException,
        scrub: Scrub,
        declared: Declared = {},  # noqa: B006 - read only
    ) -> None:
        """Write that a call failed, without the secrets that `scrub` takes out."""
        self.write(Refusal(number, failure(error, scrub, declared)))


def _log_bad_line(error: BadLineError) -> None:
    log.error("the executor wrote a line that is not a message (%s); this process ends", error)
