"""Questions to the executor that wait for an answer."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from typing import Final

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.errors import RetriableError

_ANSWER: Final = 60.0


class Questions:
    """Asks for source offsets on behalf of all tasks of a host."""

    def __init__(self, send: Callable[[pb.AttachRequest], None]) -> None:
        self._send = send
        self._numbers = itertools.count(1)
        self._open: dict[int, Future[list[bytes | None]]] = {}
        self._lock = threading.Lock()

    def ask(self, ref: pb.TaskRef, partitions: Sequence[bytes]) -> list[bytes | None]:
        """Ask and wait.

        Raises:
            RetriableError: There is no answer.
        """
        answer: Future[list[bytes | None]] = Future()
        with self._lock:
            number = next(self._numbers)
            self._open[number] = answer
        wanted = pb.OffsetsWanted(task=ref, sequence=number, partitions=partitions)
        self._send(pb.AttachRequest(offsets_wanted=wanted))
        try:
            return answer.result(_ANSWER)
        except LateError as error:
            raise RetriableError("The offset service did not answer in time") from error
        finally:
            self._open.pop(number, None)

    def answer(self, found: pb.OffsetsFound) -> None:
        """Hand over an answer; one that nobody waits for is dropped."""
        waiting = self._open.get(found.sequence)
        if waiting is None:
            return
        if found.error:
            waiting.set_exception(RetriableError(found.error))
        else:
            waiting.set_result([each.offset if each.HasField("offset") else None for each in found.offsets])

    def abandon(self) -> None:
        """Let everybody who waits fail: the executor is gone."""
        for waiting in list(self._open.values()):
            if not waiting.done():
                waiting.set_exception(RetriableError("The executor is gone"))
