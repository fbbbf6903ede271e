"""An embedded broker with TLS, logins and access rules, and clients for it, also those in Java."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.jars import ensure_jars
from copycat_embedded.jvm import find_java
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

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


TEXT = "org.apache.kafka.common.serialization.String"
SECONDS = 60


class JavaClients:
    """A JVM with the broker's jars."""

    def __init__(self, gateway: JavaGateway, connection: Mapping[str, str]) -> None:
        """Keep what every client needs to connect."""
        self._gateway = gateway
        self._connection = connection
        self._jvm: Any = gateway.jvm
        self.kafka = self._jvm.org.apache.kafka
        self.admin = self.kafka.clients.admin.Admin.create(self.map(connection))

    def map(self, items: Mapping[Any, Any]) -> Any:
        """Return a map of Java."""
        made = self._jvm.java.util.HashMap()
        for key, value in items.items():
            made.put(key, value)
        return made

    def array(self, items: Iterable[Any]) -> Any:
        """Return a list of Java."""
        made = self._jvm.java.util.ArrayList()
        for item in items:
            made.add(item)
        return made

    def each(self, items: Any) -> list[Any]:
        """Return what is in a list of Java.

        Py4J's iterators end by an exception of Java's, which PySpark, once it was used in this process, turns
        into another error.
        """
        return [items.get(place) for place in range(items.size())]

    def done(self, future: Any) -> Any:
        """Wait for a call of the admin client."""
        return future.get(SECONDS, self._jvm.java.util.concurrent.TimeUnit.SECONDS)

    def producer(self, **more: str) -> Any:
        """Return a producer of texts."""
        serializers = {f"{side}.serializer": f"{TEXT}Serializer" for side in ("key", "value")}
        config = {**self._connection, **serializers, **_dotted(more)}
        return self.kafka.clients.producer.KafkaProducer(self.map(config))

    def share_consumer(self, group: str) -> Any:
        """Return a consumer of texts that shares its partitions with others (KIP-932)."""
        deserializers = {f"{side}.deserializer": f"{TEXT}Deserializer" for side in ("key", "value")}
        config = {**self._connection, **deserializers, "group.id": group}
        return self.kafka.clients.consumer.KafkaShareConsumer(self.map(config))

    def poll(self, consumer: Any) -> list[str]:
        """Return the values of one poll."""
        records = consumer.poll(self._jvm.java.time.Duration.ofMillis(200)).iterator()
        values = []
        while records.hasNext():
            values.append(records.next().value())
        return values


@contextmanager
def java_clients(connection: Mapping[str, str]) -> Iterator[JavaClients]:
    """Run a JVM for the clients; it ends with this process at the latest."""
    port, secret = launch_gateway(
        classpath=os.pathsep.join(map(str, ensure_jars(("broker",)))),
        java_path=str(find_java().executable),
        javaopts=["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"],
        die_on_exit=True,
        enable_auth=True,
    )[:2]
    gateway = JavaGateway(
        gateway_parameters=GatewayParameters(port=port, auth_token=secret, auto_convert=True)
    )
    clients = JavaClients(gateway, connection)
    try:
        yield clients
    finally:
        clients.admin.close()
        gateway.shutdown()


def _dotted(settings: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "."): value for name, value in settings.items()}
