"""`copycat standalone`: every role in one process, nothing shared with anybody."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from copycat_cli.connector_files import ConnectorFile, read_connector_file
from copycat_connect.errors import ConfigError
from copycat_connect.first import unless
from copycat_embedded.ports import free_ports
from copycat_embedded.spark_java import spark_java_home
from copycat_rest.advertised import advertised_url, local_listener
from copycat_rest.contexts import own_context
from copycat_rpc.role import read_properties
from copycat_telemetry.logs import begin_telemetry

from copycat_launcher.errors import HurriedError
from copycat_launcher.in_process import RoleTask, first_end, serve_of, stop_all
from copycat_launcher.misspelt import warnings_about
from copycat_launcher.operations import submit
from copycat_launcher.roles import GRPC_ROLES, ROLES
from copycat_launcher.run import Signals, say, waiting, warn
from copycat_launcher.worker_properties import OFFSET_FILE, STANDALONE, standalone_properties


def run_standalone(
    worker: Path, connectors: Sequence[Path], offsets: Path | None, *, no_offsets: bool
) -> None:
    """Run the connectors until asked to stop.

    Raises:
        CopycatError: A file is wrong, a role cannot serve, or a connector fails to start.
    """
    given = read_properties(worker)
    if offsets is not None:
        given[OFFSET_FILE] = str(offsets.resolve())
    if no_offsets:
        given.pop(OFFSET_FILE, None)
    elif not given.get(OFFSET_FILE):
        raise ConfigError(
            f'Missing required configuration "{OFFSET_FILE}" which has no default value. Set it in {worker}, '
            "or give --offsets FILE, or --no-offsets to keep none."
        )
    STANDALONE.parse(given)
    for warning in warnings_about(given):
        warn(warning)
    files = [read_connector_file(path) for path in connectors]
    begin_telemetry("standalone", given)
    asyncio.run(_standalone(standalone_properties(given, free_ports(len(GRPC_ROLES))), files))


async def _standalone(properties: Mapping[str, str], files: Sequence[ConnectorFile]) -> None:
    signals = Signals()
    os.environ["JAVA_HOME"] = str(spark_java_home())
    tasks = [RoleTask(role, serve_of(role), properties) for role in ROLES]
    try:
        with waiting("Starting", [task.role.name for task in tasks]) as line:
            began = await unless(_start(tasks, line.done), signals.drain)
        if began:
            await unless(_work(tasks, files, properties), signals.drain)
    finally:
        with waiting("Stopping", [task.role.name for task in tasks]):
            drained = await unless(stop_all(tasks), signals.hurry)
    if not drained:
        raise HurriedError


async def _start(tasks: Sequence[RoleTask], progress: Callable[[str], None]) -> None:
    async def one(task: RoleTask) -> None:
        await task.ready()
        progress(task.role.name)

    await asyncio.gather(*(one(task) for task in tasks))


async def _work(
    tasks: Sequence[RoleTask], files: Sequence[ConnectorFile], properties: Mapping[str, str]
) -> None:
    url, tls = f"{local_listener(properties).scheme}://{tasks[-1].address}", own_context(properties)
    for file in files:
        await submit(url, file, tls)
    say(f"Copycat is ready: {advertised_url(properties, url)}")
    await first_end(tasks)
