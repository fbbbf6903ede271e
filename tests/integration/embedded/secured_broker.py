"""An embedded broker with TLS, passwords, tokens and access rules, and the clients that may use it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from copycat_embedded.broker import EmbeddedKafka

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
ADMIN, PASSWORD = "admin", "admin-secret"
MECHANISM = "SCRAM-SHA-512"


@dataclass(frozen=True, slots=True)
class SecuredBroker:
    """A running one."""

    bootstrap: str
    certificate: Path
    """Who trusts it trusts the broker."""
    log_folder: Path
    """Where its partitions are."""

    def client(
        self, user: str = ADMIN, password: str = PASSWORD, mechanism: str = "PLAIN"
    ) -> dict[str, str | int | float | bool]:
        """Return what a client of librdkafka needs."""
        return {
            "bootstrap.servers": self.bootstrap,
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(self.certificate),
            "sasl.mechanism": mechanism,
            "sasl.username": user,
            "sasl.password": password,
        }

    def java_client(self, login: str = "", mechanism: str = "PLAIN") -> dict[str, str]:
        """Return what a client in Java needs."""
        return {
            "bootstrap.servers": self.bootstrap,
            "security.protocol": "SASL_SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.certificate),
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": login or f'{PLAIN} username="{ADMIN}" password="{PASSWORD}";',
        }

    def python_client(self) -> dict[str, str]:
        """Return what a client of kafka-python needs."""
        return {
            "bootstrap_servers": self.bootstrap,
            "security_protocol": "SASL_SSL",
            "ssl_cafile": str(self.certificate),
            "sasl_mechanism": "PLAIN",
            "sasl_plain_username": ADMIN,
            "sasl_plain_password": PASSWORD,
        }

    def codec(self, topic: str) -> int:
        """Return the compression of the first batch on the disk: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd."""
        segment = self.log_folder / f"{topic}-0" / f"{0:020}.log"
        return int.from_bytes(segment.read_bytes()[21:23], "big") & 7


@contextmanager
def secured_broker(folder: Path) -> Iterator[SecuredBroker]:
    """Run one."""
    key, certificate, store = folder / "key.pem", folder / "certificate.pem", folder / "store.pem"
    names = ["-subj", "/CN=broker", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    subprocess.run([*made, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    store.write_text(key.read_text() + certificate.read_text())
    own = f'username="{ADMIN}" password="{PASSWORD}"'
    settings = {
        "listener.security.protocol.map": "PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificate),
        "sasl.enabled.mechanisms": f"PLAIN,{MECHANISM}",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.plaintext.plain.sasl.jaas.config": f'{PLAIN} {own} user_{ADMIN}="{PASSWORD}";',
        "listener.name.plaintext.scram-sha-512.sasl.jaas.config": f"{SCRAM};",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:{ADMIN};User:ANONYMOUS",
        "delegation.token.secret.key": "a secret of the tokens",
        "log.cleaner.backoff.ms": "100",
    }
    with EmbeddedKafka(folder / "kafka", settings=settings) as kafka:
        yield SecuredBroker(kafka.bootstrap, certificate, folder / "kafka" / "log")
        assert "NoClassDefFoundError" not in kafka.log.read_text()
