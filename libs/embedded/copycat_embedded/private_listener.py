"""The listener of an embedded Kafka at which its owner logs in; the other one is for everybody."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Final

from copycat_embedded.ports import LOOPBACK, free_ports

USER: Final = "copycat"
"""Who may do everything."""
NAME: Final = "COPYCAT"
PROTOCOL: Final = "SASL_PLAINTEXT"
MECHANISM: Final = "PLAIN"
_LOGIN_MODULE: Final = "org.apache.kafka.common.security.plain.PlainLoginModule required"


@dataclass(frozen=True, slots=True)
class PrivateListener:
    """Where the owner of a broker logs in.

    A broker with one asks its access rules about everybody else: without rules nobody else may do anything.
    """

    port: int
    """TCP port on the loopback address."""
    password: str = field(repr=False)
    """Of letters and digits alone, so that it needs no escape in a JAAS text."""

    @classmethod
    def new(cls) -> PrivateListener:
        """Return one at a free port, with a password that nobody can guess."""
        return cls(free_ports(1)[0], secrets.token_hex(32))

    @property
    def bootstrap(self) -> str:
        """The owner's address for `bootstrap.servers`."""
        return f"{LOOPBACK}:{self.port}"

    def client(self) -> dict[str, str]:
        """Return how a client logs in there, in the words of Kafka's Java clients."""
        return {
            "security.protocol": PROTOCOL,
            "sasl.mechanism": MECHANISM,
            "sasl.jaas.config": f'{_LOGIN_MODULE} username="{USER}" password="{self.password}";',
        }

    def broker(self, everybody: str, controller: str) -> dict[str, str]:
        """Return the broker's settings for it.

        The controller asks for the same login: whoever could register there would be a broker.

        Args:
            everybody: The listener that asks for no login.
            controller: That of the controller.
        """
        login = f'{_LOGIN_MODULE} username="{USER}" password="{self.password}" user_{USER}="{self.password}";'
        return {
            "listeners": f"{everybody},{NAME}://{self.bootstrap},{controller}",
            "listener.security.protocol.map": f"PLAINTEXT:PLAINTEXT,{NAME}:{PROTOCOL},CONTROLLER:{PROTOCOL}",
            "inter.broker.listener.name": NAME,
            "sasl.enabled.mechanisms": MECHANISM,
            "sasl.mechanism.inter.broker.protocol": MECHANISM,
            "sasl.mechanism.controller.protocol": MECHANISM,
            f"listener.name.{NAME.lower()}.plain.sasl.jaas.config": login,
            "listener.name.controller.plain.sasl.jaas.config": login,
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": f"User:{USER}",
        }
