"""The executor as a process: read the settings, start Spark, wire, work until stopped."""

from __future__ import annotations

import asyncio
import math
import secrets
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from copycat_connect.config.worker_keys import CLUSTER_SECRET
from copycat_connect.errors import CopycatError
from copycat_connect.first import first
from copycat_rpc import role
from copycat_rpc.metrics import serving_metrics
from copycat_rpc.server import RpcServer
from copycat_rpc.services import connected
from copycat_rpc.tls import PREFIX as SERVICES_SSL
from copycat_rpc.tls import ServicesTls
from copycat_rpc.users.calls import UserCalls, user_calls
from copycat_tls.passing import PassingCertificate, make_certificate

from copycat_executor.background import BackgroundJobs
from copycat_executor.children.connector_processes import ConnectorProcesses
from copycat_executor.children.query_engine import Queries
from copycat_executor.domain.errors import SparkLostError
from copycat_executor.domain.placement import ResidencyRules
from copycat_executor.settings import ExecutorSettings, read_settings
from copycat_executor.spark.conf import slots_of
from copycat_executor.spark.driver_launcher import DriverLauncher
from copycat_executor.spark.jvm_watch import JvmWatch
from copycat_executor.spark.launcher import SparkLauncher
from copycat_executor.spark.session import Spark, start_spark
from copycat_executor.taskhost.spec import HostTls
from copycat_executor.tasks.task_actions import Budgets
from copycat_executor.wiring import ExecutorSurroundings, Limits, wire
from copycat_executor.worker.executor import Executor
from copycat_executor.worker.membership import advertised_address

Ready = Callable[[str], None]
SERVER_STOP_GRACE_SECONDS = 2.0


def prepare(properties: Mapping[str, str]) -> Spark:
    """Start Spark, for a process that does other things first; pass the result to `serve`.

    Raises:
        CopycatError: There is no Java, or Spark does not start.
    """
    own = role.own_properties(properties)
    read_settings(own)
    return start_spark(own)


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
    own = role.own_properties(properties)
    settings, users = read_settings(own), user_calls(own, "executor")
    worker, jobs = _without_secret(properties), BackgroundJobs()
    processes = ConnectorProcesses(worker, jobs)
    jobs.spawn(processes.run(), "process of the connectors")
    try:
        if spark is None:
            spark = await _starting(own, stop)
        if spark is not None:
            given = _Given(worker, settings, processes, jobs, users, DriverLauncher(own))
            await _serve(given, spark, stop, ready)
    finally:
        await jobs.close()
        if spark is not None:
            await asyncio.to_thread(spark.stop)


def main() -> int:
    """Run `python -m copycat_executor worker.properties`."""
    return role.main("executor", serve)


def _without_secret(properties: Mapping[str, str]) -> dict[str, str]:
    """Return what plugins may see: a plugin has no business with the services."""
    return {
        key: value
        for key, value in properties.items()
        if key != CLUSTER_SECRET.name and not key.startswith(SERVICES_SSL)
    }


@dataclass(frozen=True, slots=True)
class _Given:
    """What is there before Spark has started."""

    worker: Mapping[str, str]
    """The worker's configuration, as plugins may see it."""
    settings: ExecutorSettings
    processes: ConnectorProcesses
    jobs: BackgroundJobs
    users: UserCalls | None
    """Who answers users that bring a token; none where no tokens are accepted."""
    drivers: DriverLauncher


def _limits(worker: Mapping[str, str], settings: ExecutorSettings) -> Limits:
    """Return what the settings allow."""
    return Limits(
        residency=ResidencyRules(
            slots=slots_of(worker),
            lifetime=settings.lifetime,
            linger=settings.linger,
            spares=settings.spares,
        ),
        drivers=ResidencyRules(slots=settings.drivers, lifetime=math.inf, linger=settings.linger, spares=0),
        budgets=Budgets(drain=settings.drain, commit=settings.commit),
        plugin_call=settings.plugin_call,
        max_tasks=settings.max_tasks,
        topic_tracking=settings.topic_tracking,
        log_level=settings.log_level,
        windows=settings.metrics.windows,
    )


async def _starting(properties: Mapping[str, str], stop: asyncio.Event) -> Spark | None:
    """Start Spark in a thread; None when stopped meanwhile."""
    start = asyncio.create_task(asyncio.to_thread(start_spark, properties))
    spark = await start
    if stop.is_set():
        await asyncio.to_thread(spark.stop)
        return None
    return spark


async def _serve(given: _Given, spark: Spark, stop: asyncio.Event, ready: Ready) -> None:
    settings, jobs, loop = given.settings, given.jobs, asyncio.get_running_loop()

    def lost(code: int) -> None:
        message = f"Spark's JVM ended (exit code {code}); start this executor again"
        with suppress(RuntimeError):  # the loop is closed: this process ends already
            loop.call_soon_threadsafe(jobs.crash, SparkLostError(message))

    spark.jvm.when_ended(lost)
    for_hosts = make_certificate("task hosts of an executor") if settings.tls else None
    server = RpcServer(
        settings.listen,
        setting="executor.listen",
        secret=settings.secret,
        users=given.users,
        tls=settings.tls,
        trusted=for_hosts.certificate if for_hosts else "",
    )
    launcher, watch = SparkLauncher(spark), JvmWatch(spark.ask, spark.jvm.kill)
    watch.start()
    try:
        async with connected(settings.addresses, secret=settings.secret, tls=settings.tls) as services:
            address = await advertised_address(settings, server.bind(), socket.gethostname())
            executor = wire(
                address,
                given.worker,
                _limits(given.worker, settings),
                ExecutorSurroundings(
                    server,
                    services,
                    launcher,
                    given.processes,
                    Queries(given.worker, jobs),
                    jobs,
                    given.drivers,
                ),
                host_token=secrets.token_urlsafe(32),
                host_tls=lambda: _host_tls(address, settings.tls, for_hosts),
            )
            async with serving_metrics(server, "executor", given.worker, executor.runs.readings):
                await _work(executor, server, given, stop, ready)
    finally:
        watch.stop()
        launcher.close()
        await server.stop(SERVER_STOP_GRACE_SECONDS)


def _host_tls(
    address: str, tls: ServicesTls | None, certificate: PassingCertificate | None
) -> HostTls | None:
    """Return what a host that is launched now calls us with: not with the certificate of the cluster."""
    if tls is None or certificate is None:
        return None
    return HostTls(
        certificate.certificate,
        certificate.key,
        tls.current().trusted.decode(),
        tls.target(address.rpartition(":")[0]),
    )


async def _work(
    executor: Executor, server: RpcServer, given: _Given, stop: asyncio.Event, ready: Ready
) -> None:
    """Join, and work until `stop`.

    Raises:
        CopycatError: A part crashed.
    """
    address = await server.start()
    # No host may load a plugin that harms it, and no worker join that could not run a connector.
    if not await _loaded(given, stop):
        return
    executor.run()
    given.jobs.spawn(_announce(executor, server, address, ready), "announcement")
    await _until(stop, given.jobs)
    await server.set_serving(False)
    await executor.drain()
    await given.jobs.close()


async def _loaded(given: _Given, stop: asyncio.Event) -> bool:
    """Wait until the plugins are loaded; False when stopped meanwhile.

    Raises:
        CopycatError: A part crashed.
    """
    loaded, _, crash = await first(given.processes.loaded(), stop.wait(), given.jobs.crashed())
    if not crash.cancelled():
        raise _failure(crash.result())
    return not loaded.cancelled()


async def _announce(executor: Executor, server: RpcServer, address: str, ready: Ready) -> None:
    """Say that the worker serves while its lease holds: the scheduler asks where it hears nothing of it."""
    await executor.lease.held()
    ready(address)
    while True:
        await server.set_serving(True)
        await executor.lease.lapsed(executor.lease.lapses)
        await server.set_serving(False)
        await executor.lease.held()


async def _until(stop: asyncio.Event, jobs: BackgroundJobs) -> None:
    """Wait for the end.

    Raises:
        CopycatError: A part crashed.
    """
    _, crash = await first(stop.wait(), jobs.crashed())
    if not crash.cancelled():
        raise _failure(crash.result())


def _failure(error: BaseException) -> CopycatError:
    """Return what a part crashed with as an error of ours."""
    if isinstance(error, CopycatError):
        return error
    failure = CopycatError(f"The executor failed ({type(error).__name__}: {error}); start it again")
    failure.__cause__ = error
    return failure
