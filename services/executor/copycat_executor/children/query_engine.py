"""The query engine seen from the executor: a process with a Spark of its own, there while it is used."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, Never, assert_never

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.errors import ConnectError, CopycatError
from copycat_rpc.errors import code_of

from copycat_executor.background import BackgroundJobs
from copycat_executor.children.child_process import ChildProcess, ChildProgram
from copycat_executor.children.connector_process import ConnectorProcess
from copycat_executor.children.piped_process import PipedProcess
from copycat_executor.domain.errors import PluginHangsError, PluginProcessGoneError
from copycat_executor.pipes.connector_messages import QueryAsked, QueryChecked, RowTextAsked
from copycat_executor.pipes.messages import Ping, T
from copycat_executor.pipes.query_messages import (
    FROM_QUERIES,
    BeginQueries,
    CheckRowText,
    PrepareQuery,
    QueryCall,
    RunQuery,
)

MODULE: Final = "copycat_executor.queryengine"
#: For Spark to start, on a busy machine.
START_TIMEOUT_SECONDS: Final = 120.0
#: For one batch: what takes longer is ended, its process with it.
QUERY_TIMEOUT_SECONDS: Final = 30.0
#: How long an engine that nobody uses stays.
IDLE_SECONDS: Final = 600.0
#: For an engine that is no longer wanted to end its JVM.
GRACE_SECONDS: Final = 5.0
#: A query whose engine dies may have been its victim and not its cause, the first time.
MAX_ATTEMPTS: Final = 2


class _Owner:
    """What is special about this child process: its first message only; it has no events of its own."""

    def __init__(self, worker: Mapping[str, str]) -> None:
        self._worker = dict(worker)

    def first_message(self) -> BeginQueries:
        return BeginQueries(self._worker)

    def heard(self, event: Never) -> None:
        assert_never(event)

    def silence_limit_seconds(self) -> None:
        return None

    def fell_silent(self) -> None:
        pass

    def held(self, busiest: str | None) -> None:
        pass

    def ended(
        self, ending: str, authors: frozenset[str], *, outside: bool, served: bool
    ) -> PluginProcessGoneError:
        return PluginProcessGoneError(ending)


class Queries:
    """Prepares and runs queries for hosts and connectors, one at a time."""

    def __init__(
        self,
        worker: Mapping[str, str],
        jobs: BackgroundJobs,
        *,
        module: str = MODULE,
        deadline_seconds: float = QUERY_TIMEOUT_SECONDS,
    ) -> None:
        """Keep the worker's properties; nothing is started yet. `module` is what the engine runs."""
        self._jobs = jobs
        self._deadline_seconds = deadline_seconds
        program: ChildProgram[Never] = ChildProgram(
            partial(PipedProcess.start, module), "queries", FROM_QUERIES, GRACE_SECONDS
        )
        self._process = ChildProcess(program, _Owner(worker))
        self._running: asyncio.Task[Any] | None = None
        self._turn = asyncio.Lock()
        self._used = 0.0

    def set_level(self, logger: str, level: str) -> None:
        """Set a log level in the engine, when there is one, and in each that is started later."""
        self._process.set_level(logger, level)

    async def answer(self, wanted: pb.QueryWanted) -> pb.QueryAnswered:
        """Answer a host; errors are part of the answer."""
        answered = pb.QueryAnswered(sequence=wanted.sequence)
        try:
            if wanted.HasField("batch"):
                answered.rows = await self.run(wanted.sql, wanted.columns, wanted.batch)
            else:
                answered.schema = await self.prepare(wanted.sql, wanted.columns)
        except CopycatError as error:
            answered.error, answered.error_code = error.message, code_of(error).name
        return answered

    async def check(self, asked: QueryAsked | RowTextAsked, connectors: ConnectorProcess) -> None:
        """Answer the process of the connectors, which validates."""
        schema = error_text = code = ""
        try:
            match asked:
                case QueryAsked(sql=sql, columns=columns):
                    schema = await self.prepare(sql, columns)
                case RowTextAsked(text=text, kind=kind, repeatable=repeatable, tables=tables, state=state):
                    await self._call(CheckRowText(text, kind, repeatable, tables, state))
        except CopycatError as error:
            error_text, code = error.message, code_of(error).name
        connectors.send(QueryChecked(asked.number, schema, error_text, code))

    async def prepare(self, sql: str, columns: str) -> str:
        """Check a query; returns the columns of its rows in DDL.

        Raises:
            PluginError: It is refused.
            ConnectError: It hangs, or the engine dies of it.
        """
        return await self._call(PrepareQuery(sql, columns))

    async def run(self, sql: str, columns: str, batch: bytes) -> bytes:
        """Run a query on an Arrow stream of records; returns one of rows.

        Raises:
            PluginError: It fails on them.
            ConnectError: It hangs, or the engine dies of it.
        """
        return await self._call(RunQuery(sql, columns, batch))

    async def _call(self, call: QueryCall[T]) -> T:
        # Texts of queries stay out of errors: they may hold resolved placeholders.
        async with self._turn:
            for _ in range(MAX_ATTEMPTS):
                self._keep_running()
                try:
                    await self._process.call(Ping(), "starting the query engine", START_TIMEOUT_SECONDS)
                    return await self._process.call(call, "running a query", self._deadline_seconds)
                except PluginHangsError as error:
                    self._process.kill()
                    raise ConnectError(
                        f"The query did not finish within {self._deadline_seconds:g} s and was ended"
                    ) from error
                except PluginProcessGoneError:
                    continue
            raise ConnectError("The query engine ended during the query, more than once")

    def _keep_running(self) -> None:
        self._used = asyncio.get_running_loop().time()
        if self._running is None:
            self._running = self._jobs.spawn(self._live(), "query engine")

    async def _live(self) -> None:
        """Run the engine until nobody has used it for a while."""
        loop = asyncio.get_running_loop()
        engine = asyncio.create_task(self._process.run())
        try:
            while (left := self._used + IDLE_SECONDS - loop.time()) > 0 or self._turn.locked():
                done, _ = await asyncio.wait((engine,), timeout=max(left, 1.0))
                if done:
                    await engine  # it never ends but by a failure
        finally:
            self._running = None
            engine.cancel()
            await asyncio.gather(engine, return_exceptions=True)
