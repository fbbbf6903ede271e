"""Clusters of several workers: ours and the peer's, each of which can lose one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from copycat_embedded.ports import free_ports
from copycat_testkit.cluster import OWNERS, Cluster
from copycat_testkit.connect_peer import ConnectPeer

from tools.bench.rows import Row

F = TypeVar("F")
#: Connect keeps the work of a lost worker for five minutes by default; ours does not wait.
NO_DELAY = {"scheduled.rebalance.max.delay.ms": "0"}


class Fleet(Protocol):
    """A running cluster."""

    url: str
    """The REST interface of a worker that lives as long as the cluster."""

    def workers(self) -> list[str]:
        """Return the workers' names as statuses have them, the one that serves REST first."""

    def kill(self, number: int) -> None:
        """SIGKILL a worker."""

    def revive(self, number: int) -> None:
        """Start a killed worker again."""

    def stop(self) -> None:
        """End everything."""


class CopycatFleet:
    """One instance of each service, several executors."""

    def __init__(self, folder: Path, bootstrap: str, workers: int) -> None:
        """Start it."""
        counts = {**dict.fromkeys((*OWNERS, "gateway"), 1), "executor": workers}
        self._cluster = Cluster(folder, bootstrap, counts).start()
        self.url = self._cluster.urls()[0]

    def workers(self) -> list[str]:
        """Return the executors' names."""
        return self._cluster.addresses("executor")

    def kill(self, number: int) -> None:
        """SIGKILL an executor with its hosts."""
        self._cluster.members["executor"][number].kill()

    def revive(self, number: int) -> None:
        """Start an executor and wait until it has joined."""
        member = self._cluster.members["executor"][number]
        member.start()
        member.wait_serving()

    def stop(self) -> None:
        """End everything."""
        self._cluster.stop()


class PeerFleet:
    """Several workers of Apache Kafka Connect in one group."""

    def __init__(self, folder: Path, bootstrap: str, workers: int) -> None:
        """Start them one after the other: topics are made by the first."""
        ports = free_ports(workers)
        self._workers = [
            ConnectPeer(
                bootstrap,
                folder / f"worker-{port}",
                group="bench-fleet",
                port=port,
                properties=NO_DELAY,
                as_shipped=True,
            )
            for port in ports
        ]
        for worker in self._workers:
            worker.start()
        self.url = self._workers[0].url

    def workers(self) -> list[str]:
        """Return the workers' names."""
        return [worker.url.removeprefix("http://") for worker in self._workers]

    def kill(self, number: int) -> None:
        """SIGKILL a worker."""
        self._workers[number].kill()

    def revive(self, number: int) -> None:
        """Start a worker and wait until it has joined."""
        self._workers[number].start()

    def stop(self) -> None:
        """Stop all."""
        for worker in self._workers:
            worker.stop()


@contextmanager
def fleets(folder: Path, bootstrap: str, workers: int) -> Iterator[tuple[Fleet, Fleet]]:
    """Run both clusters of so many workers on one broker."""
    ours = CopycatFleet(folder / "copycat", bootstrap, workers)
    try:
        peer = PeerFleet(folder / "connect", bootstrap, workers)
        try:
            yield ours, peer
        finally:
            peer.stop()
    finally:
        ours.stop()


def in_turn(rows: tuple[Row, ...], measure: Callable[[F], tuple[float, ...]], sides: tuple[F, F]) -> None:
    """Add a pair to rows that one measurement fills: ours, then the peer's."""
    ours, peer = (measure(side) for side in sides)
    for row, our_figure, peer_figure in zip(rows, ours, peer, strict=True):
        row.ours.append(our_figure)
        row.peer.append(peer_figure)
