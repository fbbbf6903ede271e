"""A role in a child process: its command, its environment, when it is ready, how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from copycat_embedded.guard import Guard
from copycat_embedded.spark_java import spark_java_home

from copycat_launcher.hang_watch import Ask, HangWatch
from copycat_launcher.log_files import open_log
from copycat_launcher.roles import CONFIG, EXECUTOR, ROLES, SERVICES, STOP_SECONDS, ServiceRole
from copycat_launcher.supervisor import how_it_ended
from copycat_launcher.worker_properties import hang_timeout_seconds, services_share

if TYPE_CHECKING:
    from copycat_launcher.readiness import Questions


TAIL_BYTES = 64 * 1024


class RoleProcess:
    """One child with a process group of its own, so that Ctrl-C reaches it only in its turn."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        *,
        guard: Guard,
        until_ready: Callable[[], Awaitable[None]],
        watch: HangWatch,
        log_file: Path | None = None,
        environment: Mapping[str, str] | None = None,
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        """Run this with Python; without a `log_file` the child writes where we write.

        A stop that takes longer than `stop_seconds` is ended by force.
        """
        self.name = name
        self._command = (sys.executable, *arguments)
        self._guard = guard
        self._until_ready = until_ready
        self._watch = watch
        self._log_file = log_file
        self._environment = environment
        self._stop_seconds = stop_seconds
        self._process: asyncio.subprocess.Process | None = None
        self._was_ready = False

    @property
    def log(self) -> str:
        """Where to read what it wrote."""
        return str(self._log_file) if self._log_file else "above"

    async def start(self) -> None:
        """Start it; its log is continued."""
        self._was_ready = False
        self._process = await self._spawn()
        self._guard.watch(self._process.pid)

    async def ready(self) -> None:
        """Return once it says that it is ready."""
        await self._until_ready()
        self._was_ready = True

    async def ended(self) -> str:
        """Wait until it ends, sweep up what it left running, and return how it ended."""
        if self._process is None:
            return "not started"
        code = await self._process.wait()
        self._sweep()
        return how_it_ended(code)

    async def hung(self) -> None:
        """Return once it runs and answers nothing for too long, though it was ready or answered before."""
        await self._watch.hung(ready=self._was_ready)

    async def stop(self) -> None:
        """Let it drain, by force when that takes too long."""
        await self._end(signal.SIGTERM)

    async def kill(self) -> None:
        """End it by SIGKILL; nothing is flushed."""
        await self._end(signal.SIGKILL)

    def last_words(self) -> str:
        """Return its last own message, or else the last line it wrote."""
        if self._log_file is None:
            return "its own words say why"
        if not self._log_file.exists():
            return ""
        with self._log_file.open("rb") as file:
            file.seek(max(0, self._log_file.stat().st_size - TAIL_BYTES))
            lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
        own = [line for line in lines if line.startswith("copycat ")]
        return (own or [line for line in lines if line] or [""])[-1]

    async def _spawn(self) -> asyncio.subprocess.Process:
        if self._log_file is None:
            return await self._execute(None)
        with open_log(self._log_file) as log:
            return await self._execute(log)

    async def _execute(self, output: BinaryIO | None) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=self._environment,
            start_new_session=True,
        )

    async def _end(self, how: signal.Signals) -> None:
        process = self._process
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.send_signal(how)
        try:
            await asyncio.wait_for(process.wait(), self._stop_seconds)
        except TimeoutError:
            self._sweep()
            await process.wait()
        self._sweep()

    def _sweep(self) -> None:
        """End what is left of its group (Spark's JVM, when the executor was killed) and forget it."""
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            if self._process.returncode is not None:
                self._guard.forget(self._process.pid)
                self._process = None


#: What runs the services that share a process: people see it, and `python -m` runs it.
_SHARED_NAME: Final = "services"
_SHARED_MODULE: Final = "copycat_launcher.services"
#: The scheduler, which needs the others, is drained before them.
_SHARED_STOP_SECONDS: Final = 2 * STOP_SECONDS


def role_command(role: ServiceRole, properties: Path) -> tuple[str, ...]:
    """Return the arguments that let Python run a role on a properties file."""
    return ("-m", role.module, str(properties))


def role_environment(role: ServiceRole) -> dict[str, str]:
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
                _SHARED_NAME,
                ("-m", _SHARED_MODULE, str(file)),
                guard=guard,
                until_ready=partial(_until_all_ready, SERVICES, properties),
                # One event loop answers for all of them.
                watch=HangWatch(_questions(CONFIG, properties), hang_timeout_seconds(properties)),
                log_file=log_file(_SHARED_NAME),
                stop_seconds=_SHARED_STOP_SECONDS,
            ),
        )
    for role in ROLES:
        if not (share and role in SERVICES):
            log = log_file(role.name)
            yield role.stage, role_process(role, role.name, file, properties, guard=guard, log_file=log)


def role_process(
    role: ServiceRole,
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
        until_ready=partial(_until_role_ready, role, properties),
        watch=HangWatch(_questions(role, properties), hang_timeout_seconds(properties)),
        log_file=log_file,
        environment=role_environment(role),
    )


async def _until_role_ready(role: ServiceRole, properties: Mapping[str, str]) -> None:
    from copycat_launcher.readiness import until_ready  # 90 ms, spent while the children start

    await until_ready(role, properties)


async def _until_all_ready(roles: Sequence[ServiceRole], properties: Mapping[str, str]) -> None:
    await asyncio.gather(*(_until_role_ready(role, properties) for role in roles))


def _questions(role: ServiceRole, properties: Mapping[str, str]) -> Ask:
    @cache
    def questions() -> Questions:
        from copycat_launcher.readiness import Questions  # likewise

        return Questions(role, properties)

    return lambda seconds: questions().ask(seconds)
