"""What keeps a Kafka client from its brokers: addresses that cannot be looked up, logins, unknown settings.

librdkafka looks for a wrong address, and tries a refused login, for ever; Java's clients give up at once.
"""

from __future__ import annotations

import logging
import re
import socket
from typing import Final

from confluent_kafka import KafkaError, KafkaException
from copycat_connect.errors import ConfigError, ConnectError

from copycat_executor.kafka.client_config import ClientConfig

BOOTSTRAP_SERVERS: Final = "bootstrap.servers"
LARGEST_PORT: Final = 65535
_ADDRESS_PATTERN: Final = re.compile(r"(?:\w+://)?(?:\[([^\]]+)\]|([^:/\[\]]+)):(\d+)")
#: librdkafka's own code of a refused login, without a public name.
_LOGIN_REFUSED_CODE: Final = -169
_log = logging.getLogger(__name__)


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


class LoginWatch:
    """Remembers that a client was refused; `note` is its `error_cb`."""

    def __init__(self, client: str, servers: str) -> None:
        """`client` is what its keys begin with: producer or consumer."""
        self._client = client
        self._servers = servers
        self._refusal: KafkaError | None = None

    def note(self, error: KafkaError) -> None:
        """Note what the client says of its connections."""
        if error.code() == _LOGIN_REFUSED_CODE:
            self._refusal = error

    def check(self) -> None:
        """Raise when it was refused.

        Raises:
            ConnectError: The login is wrong, and stays so until somebody corrects it.
        """
        if self._refusal is None:
            return
        key = f"{self._client}.override.sasl.jaas.config"
        raise ConnectError(
            f"The brokers at {self._servers} refuse the login of the {self._client}. Correct {key}, or "
            f"{self._client}.sasl.jaas.config of the worker, and restart the task"
        ) from KafkaException(self._refusal)


def warn_unknown(client: str, config: ClientConfig) -> None:
    """Name the settings that were dropped."""
    for key in config.unknown:
        _log.warning("The %s setting %s means nothing here and is left out", client, key)


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
