"""Kafka's own clients in Java, for what other clients do not offer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from copycat_embedded.jars import ensure_jars
from copycat_embedded.jvm import find_java
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

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
