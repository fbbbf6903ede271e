"""The brokers' addresses, checked before a client is made: librdkafka looks for a wrong one for ever."""

from __future__ import annotations

import re
import socket
from typing import Final

from copycat_connect.errors import ConfigError

from copycat_executor.kafka.client_config import ClientConfig

BOOTSTRAP_SERVERS: Final = "bootstrap.servers"
LARGEST_PORT: Final = 65535
_ADDRESS_PATTERN: Final = re.compile(r"(?:\w+://)?(?:\[([^\]]+)\]|([^:/\[\]]+)):(\d+)")


def check_brokers(config: ClientConfig) -> None:
    """See that every address has a form and one of them a host; refused in the words of Kafka's clients.

    Raises:
        ConfigError: They do not.
    """
    servers = config.properties.get(BOOTSTRAP_SERVERS, "")
    addresses = [_address(server.strip()) for server in servers.split(",") if server.strip()]
    if not any(_resolves(host, port) for host, port in addresses):
        raise ConfigError(
            f"No resolvable bootstrap urls given in {BOOTSTRAP_SERVERS}: {servers!r}. Correct the host names",
            key=BOOTSTRAP_SERVERS,
        )


def _address(server: str) -> tuple[str, int]:
    found = _ADDRESS_PATTERN.fullmatch(server)
    if found is None or int(found[3]) > LARGEST_PORT:
        raise ConfigError(
            f"Invalid url in {BOOTSTRAP_SERVERS}: {server}. Write host:port, for example localhost:9092",
            key=BOOTSTRAP_SERVERS,
        )
    return found[1] or found[2], int(found[3])


def _resolves(host: str, port: int) -> bool:
    try:
        return bool(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    except OSError:
        return False
