"""The executor as a process: read the settings, start Spark, wire, work until told to stop."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from copycat.executor.v1 import executor_service_pb2_grpc
from copycat.host.v1 import host_service_pb2_grpc
from copycat_connect.config.worker_keys import CLUSTER_SECRET
from copycat_connect.errors import CopycatError
from copycat_rpc import role
from copycat_rpc.metrics import telling
from copycat_rpc.server import RpcServer
from copycat_telemetry.metrics.registry import Reading

from copycat_executor.background.jobs import Jobs
from copycat_executor.children.connector_process import ConnectorProcess
from copycat_executor.children.query_engine import Queries
from copycat_executor.domain.errors import SparkLostError
from copycat_executor.domain.residency import ResidencyRules
from copycat_executor.hosts import server as host_server
from copycat_executor.peers.services import Addresses, connected
from copycat_executor.settings import Settings, read_settings
from copycat_executor.spark.conf import slots_of
from copycat_executor.spark.launcher import SparkLauncher
from copycat_executor.spark.session import Spark, start_spark
from copycat_executor.tasks.tasks import Budgets
from copycat_executor.worker import server as executor_server
from copycat_executor.worker.advertised import advertised_address
from copycat_executor.worker.executor import Executor, Limits

Ready = Callable[[str], None]
GRACE = 2.0


def prepare(properties: Mapping[str, str]) -> Spark:
    """Start Spark, for a process that does other things first; pass the result to `serve`.

    Raises:
        CopycatError: There is no Java, or Spark does not start.
    """
    _settings(properties)
    return start_spark(properties)


async def serve(
    properties: Mapping[str, str],
    stop: asyncio.Event,
    ready: Ready = lambda _: None,
    *,
    spark: Spark | None = None,
) -> None:
    """Work until `stop`; calls `ready` with the bound address once joined.

    Raises:
        CopycatError: The settings are wrong, or Spark or a part of this service went away: the process
            should end and be started again.
    """
    settings = _settings(properties)
    jobs = Jobs()
    wiring = _Wiring(_without_secret(properties), settings, jobs)
    jobs.spawn(wiring.process.run(), "process of the connectors")
    try:
        if spark is None:
            spark = await _starting(properties, stop)
        if spark is not None:
            await _serve(wiring, spark, stop, ready)
    finally:
        await jobs.close()
        if spark is not None:
            await asyncio.to_thread(spark.stop)


def main() -> int:
    """Run `python -m copycat_executor worker.properties`."""
    return role.main("executor", serve)


def _settings(properties: Mapping[str, str]) -> Settings:
    """Read our own settings; all else keeps its placeholders until the plugin runs."""
    return read_settings(role.own_properties(properties))


def _without_secret(properties: Mapping[str, str]) -> dict[str, str]:
    """Return what plugins may see: a plugin has no business with the services."""
    return {key: value for key, value in properties.items() if key != CLUSTER_SECRET.name}


class _Wiring:
    """What exists before the port is bound, and with it the worker's name."""

    executor: Executor

    def __init__(self, properties: Mapping[str, str], settings: Settings, jobs: Jobs) -> None:
        self.properties = properties
        self.host_token = secrets.token_urlsafe(32)
        self.settings = settings
        self.jobs = jobs
        self.process = ConnectorProcess(
            properties,
            event=self._connector_says,
            ended=self._process_ended,
        )
        self.queries = Queries(properties, jobs)

    def server(self) -> RpcServer:
        """Return the server, which answers hosts and the gateway."""
        server = RpcServer(self.settings.listen, setting="executor.listen", secret=self.settings.secret)
        hosts = host_server.HostServer(lambda: self.executor.hosts, lambda: self.executor.events)
        # Hosts run code of plugins: what they are given opens this one service of this one executor.
        server.add(
            host_service_pb2_grpc.add_HostServiceServicer_to_server,
            hosts,
            host_server.NAME,
            secret=self.host_token,
        )
        gateway = executor_server.ExecutorServer(
            self.process, lambda: self.executor.restarting, self.settings.plugin_call
        )
        server.add(
            executor_service_pb2_grpc.add_ExecutorServiceServicer_to_server, gateway, executor_server.NAME
        )
        return server

    def readings(self) -> Iterable[Reading]:
        """Tell what there is to tell; nothing before the executor is there."""
        try:
            return self.executor.meter.readings()
        except AttributeError:
            return ()

    def limits(self) -> Limits:
        """Return what the settings allow."""
        settings = self.settings
        return Limits(
            residency=ResidencyRules(
                slots=slots_of(self.properties),
                lifetime=settings.lifetime,
                linger=settings.linger,
                spares=settings.spares,
            ),
            budgets=Budgets(drain=settings.drain, commit=settings.commit),
            plugin_call=settings.plugin_call,
            topic_tracking=settings.topic_tracking,
            log_level=settings.log_level,
            windows=settings.windows,
        )

    def _connector_says(self, event: Mapping[str, Any]) -> None:
        if event["event"] == "query":
            self.jobs.spawn(self.queries.tell(event, self.process), "query of a validation")
        else:
            self.executor.connectors.heard(event)

    def _process_ended(self) -> None:
        with suppress(AttributeError):  # it may end before the executor is there
            self.executor.connectors.process_ended()


async def _starting(properties: Mapping[str, str], stop: asyncio.Event) -> Spark | None:
    """Start Spark in a thread; None when told to stop meanwhile."""
    start = asyncio.create_task(asyncio.to_thread(start_spark, properties))
    spark = await start
    if stop.is_set():
        await asyncio.to_thread(spark.stop)
        return None
    return spark


async def _serve(wiring: _Wiring, spark: Spark, stop: asyncio.Event, ready: Ready) -> None:
    settings, jobs, loop = wiring.settings, wiring.jobs, asyncio.get_running_loop()

    def lost(code: int) -> None:
        message = f"Spark's JVM ended (exit code {code}); start this executor again"
        with suppress(RuntimeError):  # the loop is closed: this process ends already
            loop.call_soon_threadsafe(jobs.crash, SparkLostError(message))

    spark.jvm.when_ended(lost)
    server, launcher = wiring.server(), SparkLauncher(spark)
    addresses = Addresses(settings.config, settings.offset, settings.status, settings.scheduler)
    try:
        async with (
            telling(server, "executor", wiring.properties, wiring.readings),
            connected(addresses, secret=settings.secret) as services,
        ):
            address = await server.start()
            wiring.executor = Executor(
                await advertised_address(settings, address, socket.gethostname()),
                wiring.properties,
                wiring.limits(),
                services=services,
                launcher=launcher,
                host_token=wiring.host_token,
                process=wiring.process,
                queries=wiring.queries,
                jobs=jobs,
            )
            # No host may load a plugin that harms it, and no worker join that could not run a connector.
            if not await _loaded(wiring, stop):
                return
            wiring.executor.run()
            jobs.spawn(_announce(wiring.executor, server, address, ready), "announcement")
            await _until(stop, jobs)
            await server.set_serving(False)
            await wiring.executor.drain()
            await jobs.close()
    finally:
        launcher.close()
        await server.stop(GRACE)


async def _loaded(wiring: _Wiring, stop: asyncio.Event) -> bool:
    """Wait until the plugins are loaded; False when told to stop meanwhile.

    Raises:
        CopycatError: A part crashed.
    """
    loaded = asyncio.create_task(wiring.process.loaded())
    stopped, crash = asyncio.create_task(stop.wait()), asyncio.create_task(wiring.jobs.crashed())
    try:
        await asyncio.wait((loaded, stopped, crash), return_when=asyncio.FIRST_COMPLETED)
        if crash.done():
            raise _failure(crash.result())
        return loaded.done()
    finally:
        for task in (loaded, stopped, crash):
            task.cancel()


async def _announce(executor: Executor, server: RpcServer, address: str, ready: Ready) -> None:
    await executor.membership.joined.wait()
    await server.set_serving(True)
    ready(address)


async def _until(stop: asyncio.Event, jobs: Jobs) -> None:
    """Wait for the end.

    Raises:
        CopycatError: A part crashed.
    """
    stopped, crash = asyncio.create_task(stop.wait()), asyncio.create_task(jobs.crashed())
    try:
        await asyncio.wait((stopped, crash), return_when=asyncio.FIRST_COMPLETED)
        if crash.done():
            raise _failure(crash.result())
    finally:
        stopped.cancel()
        crash.cancel()


def _failure(error: BaseException) -> CopycatError:
    """Return what a part crashed with as an error of ours."""
    if isinstance(error, CopycatError):
        return error
    failure = CopycatError(f"The executor failed ({type(error).__name__}: {error}); start it again")
    failure.__cause__ = error
    return failure
