"""Is there a broker at all? Asked before anything is started, so that the answer comes in seconds."""

from __future__ import annotations

import asyncio

from copycat_connect.errors import ConfigError

from copycat_launcher.errors import StartError

TRY_SECONDS = 5.0


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
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), TRY_SECONDS)
    except TimeoutError:
        return f"{host}:{port} took longer than {TRY_SECONDS:.0f} s"
    except OSError as error:
        return f"{host}:{port} {error.strerror or error}"
    writer.close()
    return ""
