"""The two systems under measurement, and their broker: as shipped, since a lean one holds both back."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.lock import JarSet
from copycat_testkit.connect_peer import SHIPPED_JVM, ConnectPeer
from copycat_testkit.system import CopycatUp

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


class System(Protocol):
    """A running Connect."""

    url: str
    pid: int
    ready_seconds: float

    def stop(self) -> None:
        """Stop it and wait for its end."""


class Copycat:
    """`copycat up` on a broker that is there, or on an embedded one of its own."""

    def __init__(
        self, folder: Path, bootstrap: str | None, properties: Mapping[str, str] | None = None
    ) -> None:
        """Start with these worker properties and wait until it says that it is ready."""
        options = [part for each in (properties or {}).items() for part in ("--set", "=".join(each))]
        began = time.monotonic()
        self._system = CopycatUp(folder, bootstrap, options=options).start()
        self.ready_seconds = time.monotonic() - began
        self.url, self.pid = self._system.url, self._system.pid

    def stop(self) -> None:
        """Drain and stop."""
        self._system.stop()


class Peer:
    """Apache Kafka Connect 4.4.0, one distributed worker with its shipped JVM settings."""

    def __init__(
        self,
        folder: Path,
        bootstrap: str,
        properties: Mapping[str, str] | None = None,
        jars: Sequence[JarSet] = ("connect",),
    ) -> None:
        """Start with these worker properties and plugins and wait until its REST interface answers."""
        began = time.monotonic()
        group = f"bench-peer-{time.time_ns()}"
        self._worker = ConnectPeer(
            bootstrap, folder, group=group, properties=properties, as_shipped=True, jars=jars
        )
        self.url = self._worker.start()
        self.ready_seconds = time.monotonic() - began
        self.pid = self._worker.process_id

    def stop(self) -> None:
        """Stop cleanly."""
        self._worker.stop()
