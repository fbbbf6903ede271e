"""`copycat-worker`: one service of a cluster, or all of one worker."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from copycat_embedded.guard import Guard
from copycat_rest.advertised import advertised_url
from copycat_rpc.role import own_properties, read_properties

from copycat_launcher.misspelt import warnings_about
from copycat_launcher.role_process import role_command, role_environment, role_processes
from copycat_launcher.roles import ROLE_BY_NAME
from copycat_launcher.run import Signals, run, say, warn
from copycat_launcher.supervisor import Program, Supervisor
from copycat_launcher.worker_properties import DISTRIBUTED

ALL = "all"


def run_worker(file: Path, role: str) -> None:
    """Run one role in place of this process, or all of them as its children, until asked to stop.

    Raises:
        CopycatError: The properties lack something, or a role did not start.
    """
    properties = read_properties(file)
    DISTRIBUTED.parse(properties)
    for warning in warnings_about(properties):
        warn(warning)
    if role == ALL:
        own = own_properties(properties)
        asyncio.run(_all_roles(file.resolve(), own))
        return
    chosen = ROLE_BY_NAME[role]
    command = [sys.executable, *role_command(chosen, file)]
    # This very process becomes the service: one process id, signals arrive where they are meant.
    os.execve(sys.executable, command, role_environment(chosen))  # noqa: S606 - our own interpreter


async def _all_roles(file: Path, properties: Mapping[str, str]) -> None:
    signals = Signals()
    stages: list[list[Program]] = [[], [], [], [], []]
    url = advertised_url(properties)
    with Guard() as guard:
        for stage, program in role_processes(file, properties, guard=guard):
            stages[stage].append(program)
        names = [program.name for stage in stages for program in stage]
        await run(Supervisor(stages, say), names, lambda: say(f"Copycat is ready: {url}"), signals)
