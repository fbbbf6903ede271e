"""The executor's query engine, seen from a host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.errors import ConfigError, ConnectError, CopycatError, DataError, RetriableError

from copycat_executor.pipeline.task.answers import Answers

#: The engine may have to start first, and other queries may be first; the executor ends what takes too long.
_ANSWER_TIMEOUT_SECONDS: Final = 300.0
_ERRORS_BY_CODE: Final = {error.code.name: error for error in (ConfigError, DataError, RetriableError)}


class HostQueries:
    """Asks over the control stream on behalf of all tasks of a host (`QueryEngine`)."""

    def __init__(self, send: Callable[[pb.AttachRequest], None]) -> None:
        self._send = send
        self._answers: Answers[pb.QueryAnswered] = Answers("The query engine", _ANSWER_TIMEOUT_SECONDS)

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
