"""Queries of transformations, checked by the executor's query engine while a configuration is validated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NoReturn

from copycat_connect.errors import ConfigError, ConnectError, CopycatError
from copycat_connect.plugin.row_query import QueryText, StateQuery

from copycat_executor.pipeline.task.answers import Answers
from copycat_executor.pipes.connector_messages import QueryAsked, QueryChecked, RowTextAsked
from copycat_executor.pipes.messages import PipeMessage

#: The engine may have to start first; who asked for the validation has a deadline of its own.
ANSWER_TIMEOUT_SECONDS: Final = 300.0


class QueryChecks:
    """A `QueryEngine` that asks the executor; as a `TransformationContext` it is what transformations get."""

    def __init__(self, send: Callable[[PipeMessage], None]) -> None:
        self._send = send
        self._answers: Answers[str] = Answers("The query engine", ANSWER_TIMEOUT_SECONDS)

    @property
    def queries(self) -> QueryChecks:
        """Itself (`TransformationContext`)."""
        return self

    def prepare(self, sql: str, columns: str) -> str:
        """Check a query over records of these columns (DDL); returns the columns of its rows in DDL.

        Raises:
            ConfigError: The query is refused.
            RetriableError: There is no answer.
        """

        def send(number: int) -> None:
            self._send(QueryAsked(number, sql, columns))

        return self._answers.ask(send)

    def check(
        self,
        text: str,
        *,
        kind: QueryText,
        repeatable: bool,
        tables: Sequence[str] = (),
        state: StateQuery | None = None,
    ) -> None:
        """Check what can be seen of a query over rows that nobody knows yet, or of an expression in one.

        Raises:
            ConfigError: It is refused.
            RetriableError: There is no answer.
        """
        self._answers.ask(
            lambda number: self._send(RowTextAsked(number, text, kind, repeatable, tuple(tables), state))
        )

    def run(self, sql: str, columns: str, batch: bytes) -> NoReturn:
        """Refuse: records are in hosts only."""
        del sql, columns, batch
        raise ConnectError("Queries run on records in task hosts only")

    def answer(self, checked: QueryChecked) -> None:
        """Hand over an answer; one that nobody waits for is dropped."""
        found: str | CopycatError = checked.schema
        if checked.error:
            refused = checked.error_code == ConfigError.code.name
            found = (ConfigError if refused else ConnectError)(checked.error)
        self._answers.answer(checked.number, found)
