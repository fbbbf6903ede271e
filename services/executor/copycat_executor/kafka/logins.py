"""Logins that brokers refuse: librdkafka tries them again for ever, Java's clients give up at once."""

from __future__ import annotations

from typing import Final

from confluent_kafka import KafkaError, KafkaException
from copycat_connect.errors import ConnectError

#: librdkafka's own code of a refused login, without a public name.
_LOGIN_REFUSED_CODE: Final = -169


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
