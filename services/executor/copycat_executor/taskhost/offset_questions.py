"""Questions to the executor that wait for an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.errors import ConnectError, RetriableError

from copycat_executor.pipeline.task.answers import Answers

#: The offset service may be away for a moment; then the task asks again.
_ANSWER_TIMEOUT_SECONDS: Final = 60.0


class OffsetQuestions:
    """Asks for source offsets on behalf of all tasks of a host."""

    def __init__(self, send: Callable[[pb.AttachRequest], None]) -> None:
        self._send = send
        self._answers: Answers[list[bytes | None]] = Answers("The offset service", _ANSWER_TIMEOUT_SECONDS)

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
