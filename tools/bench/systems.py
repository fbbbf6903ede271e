"""The two systems under measurement, each started on the broker of the run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from copycat_embedded.lock import JarSet
from copycat_testkit.connect_peer import ConnectPeer
from copycat_testkit.system import CopycatUp


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
    """Apache Kafka Connect 4.3.1, one distributed worker with its shipped JVM settings."""

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
