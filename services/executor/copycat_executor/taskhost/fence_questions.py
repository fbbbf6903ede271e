"""Questions of exactly-once tasks: may this one write, and can no earlier one any more?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.errors import ConnectError, RetriableError

from copycat_executor.pipeline.task.answers import Answers
from copycat_executor.pipeline.task.stages import StaleTaskError

#: A round of fencing may take 90 s; then the task asks again.
_ANSWER_TIMEOUT_SECONDS: Final = 120.0


class FenceQuestions:
    """Asks over the control stream on behalf of all tasks of a host."""

    def __init__(self, send: Callable[[pb.AttachRequest], None]) -> None:
        self._send = send
        self._answers: Answers[pb.FenceDone] = Answers("The executor", _ANSWER_TIMEOUT_SECONDS)

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
