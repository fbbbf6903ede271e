"""A broker with TLS that takes every login which Copycat's clients know, on one listener."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.certificates import Authority

from tests.integration.logins.token_server import CLIENT, SECRET, TokenServer

_MODULES = "org.apache.kafka.common.security"
PLAIN = f"{_MODULES}.plain.PlainLoginModule required"
SCRAM = f"{_MODULES}.scram.ScramLoginModule required"
OAUTH = f"{_MODULES}.oauthbearer.OAuthBearerLoginModule required"
USER, PASSWORD = "ada", 'it\'s "quoted"; secret'
QUOTED = PASSWORD.replace('"', r"\"")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")


@dataclass(frozen=True, slots=True)
class Broker:
    """A running one, as its clients see it."""

    bootstrap: str
    trusted: Path
    """Who trusts it trusts the broker."""
    tokens: TokenServer

    def client(self, mechanism: str, secret: str = "") -> dict[str, str]:
        """Return what a user of Kafka Connect writes to log in."""
        if mechanism == "OAUTHBEARER":
            login = f'{OAUTH} clientId="{CLIENT}" clientSecret="{secret or SECRET}" scope="kafka";'
        else:
            module = PLAIN if mechanism == "PLAIN" else SCRAM
            login = f'{module} username="{USER}" password="{secret or QUOTED}";'
        return {
            "security.protocol": "SASL_SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.trusted),
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": login,
            "sasl.oauthbearer.token.endpoint.url": self.tokens.url,
        }

    def worker(self, mechanism: str) -> dict[str, str]:
        """Return the same for a worker and for its connectors' clients."""
        given = self.client(mechanism)
        return {
            f"{part}{key}": text for part in ("", "producer.", "consumer.") for key, text in given.items()
        }


@contextmanager
def broker_of_all_logins(folder: Path, tokens: TokenServer) -> Iterator[Broker]:
    """Run one."""
    authority = Authority(folder)
    quoted = QUOTED.replace("\\", "\\" * 2)  # as a properties file has it
    own = f'username="{USER}" password="{quoted}"'
    settings = {
        "listener.security.protocol.map": "PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(authority.pem("broker")),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority.file),
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.plaintext.plain.sasl.jaas.config": f'{PLAIN} {own} user_{USER}="{quoted}";',
        "listener.name.plaintext.scram-sha-256.sasl.jaas.config": f"{SCRAM};",
        "listener.name.plaintext.scram-sha-512.sasl.jaas.config": f"{SCRAM};",
        # Believes tokens that nobody signed: the broker's check of signatures is not what is tested here.
        "listener.name.plaintext.oauthbearer.sasl.jaas.config": f"{OAUTH};",
    }
    with EmbeddedKafka(folder / "kafka", settings=settings) as kafka:
        made = Broker(kafka.bootstrap, authority.file, tokens)
        admin = AdminClient({
            "bootstrap.servers": kafka.bootstrap,
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(authority.file),
            "sasl.mechanism": "PLAIN",
            "sasl.username": USER,
            "sasl.password": PASSWORD,
        })  # fmt: skip
        for kind in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):  # one a request
            user = UserScramCredentialUpsertion(USER, ScramCredentialInfo(kind, 4096), PASSWORD.encode())
            admin.alter_user_scram_credentials([user])[USER].result(60)
        yield made
