"""The executor's query engine, seen from the process of the connectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from copycat_connect.errors import ConfigError, ConnectError, CopycatError

from copycat_executor.pipeline.task.answers import Answers

#: The engine may have to start first; the caller of a validation has a deadline of its own.
SECONDS = 300.0


class LineQueries:
    """Asks over the lines to the executor (`QueryEngine`); `self` is what transformations are given."""

    def __init__(self, tell: Callable[[Mapping[str, Any]], None]) -> None:
        self._tell = tell
        self._answers: Answers[str] = Answers("The query engine", SECONDS)

    @property
    def queries(self) -> LineQueries:
        """Itself (`TransformationContext`)."""
        return self

    def prepare(self, sql: str, columns: str) -> str:
        """Check a query; returns the schema of its rows."""

        def send(number: int) -> None:
            self._tell({"event": "query", "number": number, "sql": sql, "columns": columns})

        return self._answers.ask(send)

    def run(self, sql: str, columns: str, batch: bytes) -> NoReturn:
        """Refuse: records are in hosts only."""
        del sql, columns, batch
        raise ConnectError("Queries run on records in task hosts only")

    def answer(self, request: Mapping[str, Any]) -> None:
        """Hand over an answer."""
        found: str | CopycatError = request["schema"]
        if request["error"]:
            refused = request["code"] == ConfigError.code.name
            found = (ConfigError if refused else ConnectError)(request["error"])
        self._answers.answer(request["number"], found)
