"""The brokers of a system: the embedded one as a program of the supervisor; whether others answer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress

from copycat_connect.errors import ConfigError
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.guard import Guard
from copycat_eventlog.access_rules import give_access

from copycat_launcher.errors import StartError
from copycat_launcher.polling import until
from copycat_launcher.supervisor import how_it_ended


class BrokerProcess:
    """The broker, always on the same port: the roles know it."""

    name = "Kafka"

    def __init__(self, broker: EmbeddedKafka, guard: Guard, worker: Mapping[str, str] | None = None) -> None:
        """Supervise a broker with a fixed port; `worker`: properties of the Copycat others may not harm."""
        self._broker = broker
        self._guard = guard
        self._worker = worker
        self._watched = 0

    @property
    def log(self) -> str:
        """Where to read what it wrote."""
        return str(self._broker.log)

    async def start(self) -> None:
        """Verify its jars and start it."""
        await asyncio.to_thread(self._broker.launch)
        self._watched = self._broker.process_id
        self._guard.watch(self._watched)

    async def ready(self) -> None:
        """Return once clients may use it.

        Raises:
            UnavailableError: It does not take its access rules.
        """
        await until(self._is_ready)
        private = self._broker.private
        if private is not None and self._worker is not None:
            await give_access(private.bootstrap, private.client(), self._worker)

    async def ended(self) -> str:
        """Wait until it ends and return how."""
        with suppress(ProcessLookupError):  # it is gone, and was waited for
            await _end_of(self._watched)
        code = self._broker.exit_code()
        await self.stop()
        return how_it_ended(code or 0)

    async def hung(self) -> None:
        """Never return: roles wait for a broker that is slow, and nobody can say that it hangs."""
        await asyncio.Event().wait()

    async def stop(self) -> None:
        """Stop it cleanly; the first stop on a machine takes some seconds longer."""
        await asyncio.to_thread(self._broker.stop)
        self._forget()

    async def kill(self) -> None:
        """End it by force."""
        await asyncio.to_thread(self._broker.kill)
        self._forget()

    def last_words(self) -> str:
        """Return that its disk is full, where it is, or else the last error it wrote."""
        full = self._broker.full_disk()
        if full:
            return full
        text = (
            self._broker.log.read_text(encoding="utf-8", errors="replace")
            if self._broker.log.exists()
            else ""
        )
        return next((line for line in reversed(text.splitlines()) if " ERROR " in line), "")

    async def _is_ready(self) -> bool:
        return self._broker.is_ready()

    def _forget(self) -> None:
        if self._watched:
            self._guard.forget(self._watched)
            self._watched = 0


async def _end_of(process_id: int) -> None:
    """Return once a process has ended; 0 never ends.

    Raises:
        ProcessLookupError: No process has this id.
    """
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    if not process_id:
        await ended.wait()
    descriptor = os.pidfd_open(process_id)
    try:
        loop.add_reader(descriptor, ended.set)
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


_TRY_SECONDS = 5.0


async def check_reachable(bootstrap_servers: str) -> None:
    """Return when one of the brokers takes a connection.

    Raises:
        ConfigError: The list is no list of host:port.
        StartError: None of them does.
    """
    servers = [_host_and_port(server) for server in bootstrap_servers.split(",")]
    failures = await asyncio.gather(*(_failure(host, port) for host, port in servers))
    if all(failures):
        reasons = "; ".join(failure for failure in failures if failure)
        raise StartError(
            f"No broker of bootstrap.servers={bootstrap_servers} answers: {reasons}. Start Kafka, or fix it."
        )


def _host_and_port(server: str) -> tuple[str, int]:
    host, _, port = server.strip().rpartition(":")
    if not host or not port.isdigit():
        raise ConfigError(f"bootstrap.servers: {server!r} is not host:port. Write for example localhost:9092")
    return host.strip("[]"), int(port)


async def _failure(host: str, port: int) -> str:
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), _TRY_SECONDS)
    except TimeoutError:
        return f"{host}:{port} took longer than {_TRY_SECONDS:.0f} s"
    except OSError as error:
        return f"{host}:{port} {error.strerror or error}"
    writer.close()
    return ""
