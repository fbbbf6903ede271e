"""A Kafka of several brokers, a container each: the verified jars on the Java of the executors' image."""

from __future__ import annotations

import uuid
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from copycat_embedded.broker_files import TEMPLATE
from copycat_embedded.jars import ensure_jars
from copycat_testkit.kafka import wait_until
from testcontainers.core.network import Network

from tools.containers.box import Box
from tools.containers.engine import Engine
from tools.containers.images import image_name

READY_SECONDS: Final = 180.0
ASK_SECONDS: Final = 5.0
MEMORY_MEGABYTES: Final = 768
INSIDE, OUTSIDE, CONTROLLER = 9092, 9094, 9093
#: Other containers know a broker by its name, we by its address, which each start finds out.
_START: Final = """
set -e
own=/data/server.properties
sed "s/%ADDRESS%/$(hostname -i)/" /etc/copycat/server.properties > $own
java="/opt/java/bin/java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx384m -cp $CLASS_PATH"
test -e /data/log/meta.properties || $java kafka.tools.StorageTool format -t $CLUSTER -c $own
exec $java -Dlog4j2.configurationFile=/etc/copycat/log4j2.properties kafka.Kafka $own
"""


class Brokers:
    """Each is a broker and a controller; topics have as many replicas as there are brokers, up to three."""

    def __init__(self, engine: Engine, on: Network, folder: Path, count: int) -> None:
        """Nothing starts yet; `folder` receives their properties."""
        names = [f"kafka-{number}" for number in range(1, count + 1)]
        jars = ensure_jars(("broker",))
        environment = {
            "CLASS_PATH": ":".join(f"/jars/{jar.name}" for jar in jars),
            "CLUSTER": urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A"),
        }
        self.boxes: Sequence[Box] = [
            Box(
                engine,
                on,
                name,
                image_name("executor"),
                command=("/bin/sh", "-c", _START),
                files={
                    jars[0].parent: "/jars",
                    TEMPLATE / "log4j2.properties": "/etc/copycat/log4j2.properties",
                    _write(folder, names, number): "/etc/copycat/server.properties",
                },
                environment=environment,
                memory_megabytes=MEMORY_MEGABYTES,
            )
            for number, name in enumerate(names, 1)
        ]
        self.inside = ",".join(f"{name}:{INSIDE}" for name in names)
        """What `bootstrap.servers` is for containers."""

    @property
    def outside(self) -> str:
        """What `bootstrap.servers` is for us, now."""
        return ",".join(f"{box.ip}:{OUTSIDE}" for box in self.boxes if box.runs)

    def start(self) -> None:
        """Start all and wait until they are one cluster: one alone has no quorum."""
        for box in self.boxes:
            box.start()
        self.wait_whole()

    def wait_whole(self) -> None:
        """Wait until every broker answers and is in sync, so that any one of them may be missing."""
        wait_until(self.whole, READY_SECONDS, "every broker is in sync")

    def whole(self) -> bool:
        """Tell whether every broker is there and every replica in sync, as any of them says."""
        for box in self.boxes:
            assert box.runs, f"{box.name} ended:\n{box.said()[-3000:]}"
        try:
            found = AdminClient({"bootstrap.servers": self.outside, "log_level": 0}).list_topics(
                timeout=ASK_SECONDS
            )
        except KafkaException:
            return False
        partitions = [each for topic in found.topics.values() for each in topic.partitions.values()]
        return len(found.brokers) == len(self.boxes) and all(
            len(each.isrs) == len(each.replicas) for each in partitions
        )


def _write(folder: Path, names: Sequence[str], number: int) -> Path:
    name, replicas = names[number - 1], min(3, len(names))
    settings = {
        "process.roles": "broker,controller",
        "node.id": number,
        "controller.quorum.voters": ",".join(
            f"{id_}@{each}:{CONTROLLER}" for id_, each in enumerate(names, 1)
        ),
        "controller.listener.names": "CONTROLLER",
        "listeners": f"INSIDE://:{INSIDE},OUTSIDE://:{OUTSIDE},CONTROLLER://:{CONTROLLER}",
        "advertised.listeners": f"INSIDE://{name}:{INSIDE},OUTSIDE://%ADDRESS%:{OUTSIDE}",
        "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "INSIDE",
        "log.dirs": "/data/log",
        "default.replication.factor": replicas,
        "min.insync.replicas": max(1, replicas - 1),
        "offsets.topic.replication.factor": replicas,
        "offsets.topic.num.partitions": 6,
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": max(1, replicas - 1),
        "transaction.state.log.num.partitions": 6,
        "group.initial.rebalance.delay.ms": 0,
    }
    file = folder / f"{name}.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    file.chmod(0o644)
    return file
