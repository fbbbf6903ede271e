"""The name of an executor: the host:port at which others, its own hosts too, reach it."""

from __future__ import annotations

import asyncio
import socket

from copycat_connect.cluster import is_wildcard
from copycat_connect.errors import ConfigError

from copycat_executor.settings import ADVERTISED, ExecutorSettings


async def advertised_address(settings: ExecutorSettings, bound: str, host_name: str) -> str:
    """Return what the settings say; otherwise what was bound, with this machine's name for every address.

    Raises:
        ConfigError: Nobody could reach it by this machine's name.
    """
    host, _, port = bound.rpartition(":")
    if settings.advertised:
        return settings.advertised
    if not is_wildcard(host):
        return bound
    try:
        await asyncio.get_running_loop().getaddrinfo(host_name, int(port), type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConfigError(
            f"The executor listens on {bound} and would be known as {host_name}:{port}, "
            f"but this machine cannot look that name up ({error}); set {ADVERTISED}",
            key=ADVERTISED,
        ) from error
    return f"{host_name}:{port}"
