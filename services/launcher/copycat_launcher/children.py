"""Roles as child processes: their command, their environment, how to see that they are ready."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from copycat_embedded.guard import Guard
from copycat_embedded.spark_java import spark_java_home

from copycat_launcher.hang_watch import Ask, HangWatch
from copycat_launcher.role_process import RoleProcess
from copycat_launcher.roles import EXECUTOR, Role
from copycat_launcher.worker_properties import hang_timeout_seconds

if TYPE_CHECKING:
    from copycat_launcher.questions import Questions


def role_command(role: Role, properties: Path) -> tuple[str, ...]:
    """Return the arguments that let Python run a role on a properties file."""
    return ("-m", role.module, str(properties))


def role_environment(role: Role) -> dict[str, str]:
    """Return the environment of a role: ours, and for the executor a Java that Spark starts on."""
    return {**os.environ, "JAVA_HOME": str(spark_java_home())} if role is EXECUTOR else dict(os.environ)


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
    from copycat_launcher.role_readiness import until_ready  # 90 ms, spent while the children start

    await until_ready(role, properties)


def _questions(role: Role, properties: Mapping[str, str]) -> Ask:
    @cache
    def questions() -> Questions:
        from copycat_launcher.questions import Questions  # likewise

        return Questions(role, properties)

    return lambda seconds: questions().ask(seconds)
