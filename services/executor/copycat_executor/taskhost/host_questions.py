"""Questions of a host to its executor that wait for an answer: queries, offsets, fences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.errors import ConfigError, ConnectError, CopycatError, DataError, RetriableError

from copycat_executor.pipeline.task.answers import Answers
from copycat_executor.pipeline.task.stages import StaleTaskError

#: The engine may have to start first, and other queries may be first; the executor ends what takes too long.
_QUERY_TIMEOUT_SECONDS: Final = 300.0
_ERRORS_BY_CODE: Final = {error.code.name: error for error in (ConfigError, DataError, RetriableError)}


class HostQueries:
    """Asks over the control stream on behalf of all tasks of a host (`QueryEngine`)."""

    def __init__(self, send: Callable[[pb.AttachRequest], None]) -> None:
        self._send = send
        self._answers: Answers[pb.QueryAnswered] = Answers("The query engine", _QUERY_TIMEOUT_SECONDS)

    def prepare(self, sql: str, columns: str) -> str:
        """Check a query; returns the schema of its rows."""
        return self._ask(pb.QueryWanted(sql=sql, columns=columns)).schema

    def run(self, sql: str, columns: str, batch: bytes) -> bytes:
        """Run a query on an Arrow stream; returns another."""
        return self._ask(pb.QueryWanted(sql=sql, columns=columns, batch=batch)).rows

    def answer(self, answered: pb.QueryAnswered) -> None:
        """Hand over an answer; one that nobody waits for is dropped."""
        found: pb.QueryAnswered | CopycatError = answered
        if answered.error:
            found = _ERRORS_BY_CODE.get(answered.error_code, ConnectError)(answered.error)
        self._answers.answer(answered.sequence, found)

    def abandon(self) -> None:
        """Let everybody who waits fail: the executor is gone."""
        self._answers.abandon()

    def _ask(self, wanted: pb.QueryWanted) -> pb.QueryAnswered:
        def send(number: int) -> None:
            wanted.sequence = number
            self._send(pb.AttachRequest(query_wanted=wanted))

        return self._answers.ask(send)


#: The offset service may be away for a moment; then the task asks again.
_OFFSETS_TIMEOUT_SECONDS: Final = 60.0


class OffsetQuestions:
    """Asks for source offsets on behalf of all tasks of a host."""

    def __init__(self, send: Callable[[pb.AttachRequest], None]) -> None:
        self._send = send
        self._answers: Answers[list[bytes | None]] = Answers("The offset service", _OFFSETS_TIMEOUT_SECONDS)

    def ask(self, ref: pb.TaskRef, partitions: Sequence[bytes]) -> list[bytes | None]:
        """Ask and wait.

        Raises:
            RetriableError: There is no answer now.
            ConnectError: There will be none; the text says why.
        """

        def send(number: int) -> None:
            wanted = pb.OffsetsWanted(task=ref, sequence=number, partitions=partitions)
            self._send(pb.AttachRequest(offsets_wanted=wanted))

        return self._answers.ask(send)

    def answer(self, found: pb.OffsetsFound) -> None:
        """Hand over an answer; one that nobody waits for is dropped."""
        offsets = [each.offset if each.HasField("offset") else None for each in found.offsets]
        kind = ConnectError if found.final else RetriableError
        self._answers.answer(found.sequence, kind(found.error) if found.error else offsets)

    def abandon(self) -> None:
        """Let everybody who waits fail: the executor is gone."""
        self._answers.abandon()


#: A round of fencing may take 90 s; then the task asks again.
_FENCE_TIMEOUT_SECONDS: Final = 120.0


class FenceQuestions:
    """Asks over the control stream on behalf of all tasks of a host."""

    def __init__(self, send: Callable[[pb.AttachRequest], None]) -> None:
        self._send = send
        self._answers: Answers[pb.FenceDone] = Answers("The executor", _FENCE_TIMEOUT_SECONDS)

    def ask(self, ref: pb.TaskRef) -> None:
        """Ask and wait.

        Raises:
            StaleTaskError: A newer generation of the task exists.
            RetriableError: There is no answer now.
            ConnectError: Earlier tasks cannot be fenced.
        """

        def send(number: int) -> None:
            self._send(pb.AttachRequest(fence_wanted=pb.FenceWanted(task=ref, sequence=number)))

        done = self._answers.ask(send)
        if done.stale:
            raise StaleTaskError
        if done.error:
            raise (RetriableError if done.passes else ConnectError)(done.error)

    def answer(self, done: pb.FenceDone) -> None:
        """Hand over an answer; one that nobody waits for is dropped."""
        self._answers.answer(done.sequence, done)

    def abandon(self) -> None:
        """Let everybody who waits fail: the executor is gone."""
        self._answers.abandon()
