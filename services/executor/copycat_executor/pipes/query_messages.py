"""The conversation with the query engine.

The executor's first line is `BeginQueries`; the engine says that it is ready once its Spark has started, then
answers calls, queries one after the other in their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeAlias

from copycat_connect.plugin.row_query import QueryText, StateQuery

from copycat_executor.pipes.lines import LineReader
from copycat_executor.pipes.messages import (
    Answer,
    Ask,
    Call,
    Ping,
    PipeMessage,
    Ready,
    Refusal,
    SetLevel,
    StageReached,
    T,
    UnreadResult,
)


class BeginQueries(PipeMessage, frozen=True):
    """The first line to a new engine."""

    worker: Mapping[str, str]
    """The worker's properties."""


class QueryCall(Call[T], Generic[T], frozen=True):
    """A call that Spark carries out."""


class PrepareQuery(QueryCall[str], frozen=True):
    """Checks a query; answers with the columns of its rows in DDL."""

    sql: str
    columns: str
    """Of the records, in DDL."""


class CheckRowText(QueryCall[None], frozen=True):
    """Checks what can be seen of a query over rows that are not known yet, or of an expression in one."""

    text: str
    kind: QueryText
    repeatable: bool
    """Whether it has to give the same each time."""
    tables: tuple[str, ...]
    """What it may join, whose columns nobody knows."""
    state: StateQuery | None
    """What else is known of a query with state, if that is."""


class RunQuery(QueryCall[bytes], frozen=True):
    """Runs a query on records; answers with an Arrow stream of rows, the place of its record last in each."""

    sql: str
    columns: str
    """Of the records, in DDL."""
    batch: bytes
    """The records, an Arrow stream; bytes are base64 on the line."""


AnyQueryCall: TypeAlias = Ping | PrepareQuery | CheckRowText | RunQuery
ToQueries: TypeAlias = Ask[AnyQueryCall] | SetLevel
FromQueries: TypeAlias = Ready | Answer[UnreadResult] | Refusal | StageReached

FIRST_LINE: LineReader[BeginQueries] = LineReader(BeginQueries)
TO_QUERIES: LineReader[ToQueries] = LineReader(ToQueries)
FROM_QUERIES: LineReader[FromQueries] = LineReader(FromQueries)
