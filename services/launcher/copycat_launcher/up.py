"""`copycat up`: a whole system on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from copycat_connect.cluster import REST_PORT
from copycat_connect.config.client_overrides import EMBEDDED_SERVERS
from copycat_connect.config.worker_keys import BROKER_DATA_DIR
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.guard import Guard
from copycat_embedded.ports import LOOPBACK, free_ports, is_free
from copycat_embedded.private_listener import PrivateListener
from copycat_rest.advertised import advertised_url
from copycat_rest.listeners import LISTENERS
from copycat_serving.beside import beside

from copycat_launcher.broker_process import BrokerProcess, check_reachable
from copycat_launcher.data_dir import DataDir
from copycat_launcher.errors import StartError
from copycat_launcher.log_files import keep_small
from copycat_launcher.misspelt import warnings_about
from copycat_launcher.role_process import role_process, role_processes
from copycat_launcher.roles import EXECUTOR, GRPC_ROLES
from copycat_launcher.run import Signals, run, say, warn
from copycat_launcher.supervisor import Program, Supervisor
from copycat_launcher.worker_properties import (
    DISTRIBUTED,
    executor_properties,
    login_properties,
    up_properties,
    write_properties,
)

WRITTEN = "Written by `copycat up` at every start. Set a property with: copycat up --set key=value"


@dataclass(frozen=True, slots=True)
class UpOptions:
    """What the user asked for."""

    data_dir: Path
    rest_port: int = REST_PORT
    """0 picks a free one."""
    executors: int = 1
    bootstrap_servers: str = ""
    """Empty starts the embedded broker."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Worker properties that win over ours."""


async def up(options: UpOptions) -> None:
    """Run until asked to stop.

    Raises:
        CopycatError: The system cannot be started; nothing is left running.
    """
    signals = Signals()
    for warning in warnings_about(options.settings):
        warn(warning)
    folder = DataDir(options.data_dir.resolve())
    rest_port = _rest_port(options)
    async with folder.locked() as lock:
        if options.bootstrap_servers:
            await check_reachable(options.bootstrap_servers)
        with Guard(holding=(lock,)) as guard:
            supervisor, names, properties = _system(options, folder, rest_port, guard)
            async with beside(partial(keep_small, folder.logs)):
                await run(supervisor, names, lambda: _welcome(folder, properties), signals)


def _rest_port(options: UpOptions) -> int:
    port = options.rest_port or free_ports(1)[0]
    if LISTENERS.name not in options.settings and not is_free(port):
        raise StartError(
            f"--rest-port {port} is taken by another program. Stop that one, or name another port."
        )
    return port


def _system(
    options: UpOptions, folder: DataDir, rest_port: int, guard: Guard
) -> tuple[Supervisor, list[str], dict[str, str]]:
    kafka_port, *ports = free_ports(1 + len(GRPC_ROLES) + options.executors - 1)
    private = None if options.bootstrap_servers else PrivateListener.new()
    known: dict[str, str] = {BROKER_DATA_DIR.name: str(folder.kafka)} if private else {}
    if private and "bootstrap.servers" not in options.settings:  # no other Kafka is to see the password
        known |= login_properties(private, f"{LOOPBACK}:{kafka_port}")
    bootstrap = private.bootstrap if private else options.bootstrap_servers
    properties = up_properties(bootstrap, rest_port, ports, {**known, **options.settings})
    DISTRIBUTED.parse(properties)
    stages: list[list[Program]] = [[], [], [], [], []]

    if private:
        broker = EmbeddedKafka(folder.kafka, kafka_port, folder.log("kafka"), private=private)
        stages[0].append(BrokerProcess(broker, guard, properties))
    file = folder.properties("worker")
    write_properties(file, properties, WRITTEN)
    for stage, program in role_processes(file, properties, guard=guard, log_file=folder.log):
        stages[stage].append(program)
    for number, port in enumerate(ports[len(GRPC_ROLES) :], 2):
        name = f"executor-{number}"
        file, own = folder.properties(name), executor_properties(properties, port)
        write_properties(file, own, WRITTEN)
        program = role_process(EXECUTOR, name, file, own, guard=guard, log_file=folder.log(name))
        stages[EXECUTOR.stage].append(program)
    names = [program.name for stage in stages for program in stage]
    return Supervisor(stages, say), names, properties


def _welcome(folder: DataDir, properties: Mapping[str, str]) -> None:
    say(f"Copycat is ready: {advertised_url(properties)}")
    if EMBEDDED_SERVERS in properties:
        say(f"Kafka, for your own clients: {properties[EMBEDDED_SERVERS]}")
    say(f"Data and logs: {folder.root}. Ctrl-C drains and stops it.")


def run_up(options: UpOptions) -> None:
    """Run `copycat up` in the foreground, until a signal ends it."""
    asyncio.run(up(options))
