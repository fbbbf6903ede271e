"""The query engine seen from the executor: a process with a Spark of its own, there while it is used."""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.errors import ConnectError, CopycatError
from copycat_rpc.errors import code_of

from copycat_executor.background.jobs import Jobs
from copycat_executor.children.connector_process import ConnectorProcess
from copycat_executor.domain.errors import PluginHangsError, PluginProcessGoneError

MODULE = "copycat_executor.queryengine"
#: For Spark to start, on a busy machine, seconds.
START = 120.0
#: For one batch, seconds: what takes longer is ended, its process with it.
DEADLINE = 30.0
#: How long an engine that nobody uses stays, seconds.
IDLE = 600.0
#: For an engine that is no longer wanted to end its JVM, seconds.
GRACE = 5.0
#: A query whose engine dies may have been its victim and not its cause, the first time.
ATTEMPTS = 2


class Queries:
    """Prepares and runs queries for hosts and connectors, one at a time."""

    def __init__(
        self, worker: Mapping[str, str], jobs: Jobs, *, module: str = MODULE, deadline: float = DEADLINE
    ) -> None:
        """Take the worker's properties; nothing is started yet. `module` is what the engine runs."""
        self._jobs = jobs
        self._deadline = deadline
        self._process = ConnectorProcess(worker, module=module, what="queries", grace=GRACE)
        self._running: asyncio.Task[Any] | None = None
        self._turn = asyncio.Lock()
        self._used = 0.0

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

    async def tell(self, asked: Mapping[str, Any], connectors: ConnectorProcess) -> None:
        """Answer the process of the connectors, which validates."""
        wanted = pb.QueryWanted(sequence=asked["number"], sql=asked["sql"], columns=asked["columns"])
        found = await self.answer(wanted)
        connectors.tell(
            "answered",
            number=found.sequence,
            schema=found.schema,
            error=found.error,
            code=found.error_code,
        )

    async def prepare(self, sql: str, columns: str) -> str:
        """Check a query; returns the columns of its rows in DDL.

        Raises:
            PluginError: It is refused.
            ConnectError: It hangs, or the engine dies of it.
        """
        schema: str = await self._call("prepare", sql=sql, columns=columns)
        return schema

    async def run(self, sql: str, columns: str, batch: bytes) -> bytes:
        """Run a query on an Arrow stream of records; returns one of rows.

        Raises:
            PluginError: It fails on them.
            ConnectError: It hangs, or the engine dies of it.
        """
        rows: str = await self._call("run", sql=sql, columns=columns, batch=b64encode(batch).decode())
        return b64decode(rows)

    async def _call(self, name: str, **arguments: str) -> Any:
        # Texts of queries stay out of errors: they may hold resolved placeholders.
        async with self._turn:
            for _ in range(ATTEMPTS):
                self._keep_running()
                try:
                    await self._process.call("ping", "starting the query engine", START)
                    return await self._process.call(name, "running a query", self._deadline, **arguments)
                except PluginHangsError as error:
                    self._process.kill()
                    message = f"The query did not finish within {self._deadline:g} s and was ended"
                    raise ConnectError(message) from error
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
            while (left := self._used + IDLE - loop.time()) > 0 or self._turn.locked():
                done, _ = await asyncio.wait((engine,), timeout=max(left, 1.0))
                if done:
                    await engine  # it never ends but by a failure
        finally:
            self._running = None
            engine.cancel()
            await asyncio.gather(engine, return_exceptions=True)
