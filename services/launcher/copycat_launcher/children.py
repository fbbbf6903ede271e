"""Roles as child processes: their command, their environment, how to see that they are ready."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from copycat_embedded.guard import Guard
from copycat_embedded.spark_java import spark_java_home

from copycat_launcher.hang_watch import Ask, HangWatch
from copycat_launcher.role_process import RoleProcess
from copycat_launcher.roles import CONFIG, EXECUTOR, ROLES, SERVICES, STOP_SECONDS, Role
from copycat_launcher.worker_properties import hang_timeout_seconds, services_share

if TYPE_CHECKING:
    from copycat_launcher.questions import Questions

#: What runs the services that share a process: people see it, and `python -m` runs it.
SHARED_NAME: Final = "services"
SHARED_MODULE: Final = "copycat_launcher.services"
#: The scheduler, which needs the others, is drained before them.
SHARED_STOP_SECONDS: Final = 2 * STOP_SECONDS


def role_command(role: Role, properties: Path) -> tuple[str, ...]:
    """Return the arguments that let Python run a role on a properties file."""
    return ("-m", role.module, str(properties))


def role_environment(role: Role) -> dict[str, str]:
    """Return the environment of a role: ours, and for the executor a Java that Spark starts on."""
    return {**os.environ, "JAVA_HOME": str(spark_java_home())} if role is EXECUTOR else dict(os.environ)


def role_processes(
    file: Path,
    properties: Mapping[str, str],
    *,
    guard: Guard,
    log_file: Callable[[str], Path | None] = lambda _: None,
) -> Iterator[tuple[int, RoleProcess]]:
    """Yield the processes of all roles of a worker, each with its stage.

    Args:
        file: The properties file that they read.
        properties: What it says.
        guard: Ends them when we are killed.
        log_file: Where a process of this name writes; nothing where we do.
    """
    share = services_share(properties)
    if share:
        yield (
            CONFIG.stage,
            RoleProcess(
                SHARED_NAME,
                ("-m", SHARED_MODULE, str(file)),
                guard=guard,
                until_ready=partial(_until_all_ready, SERVICES, properties),
                # One event loop answers for all of them.
                watch=HangWatch(_questions(CONFIG, properties), hang_timeout_seconds(properties)),
                log_file=log_file(SHARED_NAME),
                stop_seconds=SHARED_STOP_SECONDS,
            ),
        )
    for role in ROLES:
        if not (share and role in SERVICES):
            log = log_file(role.name)
            yield role.stage, role_process(role, role.name, file, properties, guard=guard, log_file=log)


def role_process(
    role: Role,
    name: str,
    file: Path,
    properties: Mapping[str, str],
    *,
    guard: Guard,
    log_file: Path | None = None,
) -> RoleProcess:
    """Return the process of a role; `properties` is what the file says."""
    return RoleProcess(
        name,
        role_command(role, file),
        guard=guard,
        until_ready=partial(_until_ready, role, properties),
        watch=HangWatch(_questions(role, properties), hang_timeout_seconds(properties)),
        log_file=log_file,
        environment=role_environment(role),
    )


async def _until_ready(role: Role, properties: Mapping[str, str]) -> None:
    from copycat_launcher.readiness import until_ready  # 90 ms, spent while the children start

    await until_ready(role, properties)


async def _until_all_ready(roles: Sequence[Role], properties: Mapping[str, str]) -> None:
    await asyncio.gather(*(_until_ready(role, properties) for role in roles))


def _questions(role: Role, properties: Mapping[str, str]) -> Ask:
    @cache
    def questions() -> Questions:
        from copycat_launcher.questions import Questions  # likewise

        return Questions(role, properties)

    return lambda seconds: questions().ask(seconds)
