"""The broker of a measurement: as Kafka ships it, since a lean one holds both sides back."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.connect_peer import SHIPPED_JVM

#: What `kafka-server-start.sh` gives its JVM.
JVM: Final = ("-Xmx1G", "-Xms1G", *SHIPPED_JVM)
#: Where the embedded broker has less than `config/server.properties` and Kafka's own defaults.
SETTINGS: Final = {
    "num.network.threads": "3",
    "num.io.threads": "8",
    "background.threads": "10",
    "log.cleaner.dedupe.buffer.size": "134217728",
}


def shipped_kafka(folder: Path) -> EmbeddedKafka:
    """Return a broker that is not started yet; its data lies in `folder`."""
    return EmbeddedKafka(folder, settings=SETTINGS, jvm=JVM)
