"""The system that suffers: a broker, a `copycat up` with two workers, one counting connector a guarantee."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psutil
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_testkit.counted_system import STRING, CountedSystem
from copycat_testkit.eventually import wait

PARTITIONS: Final = 4
WORKERS: Final = 2
#: Where `copycat up` keeps what it knows.
INTERNAL_TOPICS: Final = ("connect-configs", "connect-offsets", "connect-status", "connect-assignments")
ANSWER_SECONDS: Final = 90.0
#: What each kind of connector is given beyond the counting itself.
KINDS: Final[Mapping[str, Mapping[str, str]]] = {
    "at_least_once": {"delivery.guarantee": "at_least_once"},
    "at_most_once": {"delivery.guarantee": "at_most_once"},
    "exactly_once": {"delivery.guarantee": "exactly_once", "transaction.boundary": "poll"},
    "exactly_once_interval": {
        "delivery.guarantee": "exactly_once",
        "transaction.boundary": "interval",
        "transaction.boundary.interval.ms": "300",
    },
}
#: Short waits: the matrix has many rounds.
SETTINGS: Final = {
    "offset.flush.interval.ms": "500",
    "scheduled.rebalance.max.delay.ms": "0",
    "services.in.one.process": "false",  # each is struck alone
}
COUNTING: Final = Path(__file__).with_name("author")
"""The folder of the plugin that counts."""


class System(CountedSystem):
    """A running system. Each connector is named as its guarantee, and so is its topic."""

    def __init__(self, broker: EmbeddedKafka, folder: Path, kinds: Sequence[str]) -> None:
        super().__init__(
            broker, folder, kinds, PARTITIONS, settings=SETTINGS, plugins=[COUNTING], executors=WORKERS
        )
        self.kinds = kinds
        self.tasks = 2
        """How many tasks each connector is to have."""

    def configure(self, tasks: int) -> None:
        """Create the connectors, or change how many tasks they have."""
        self.tasks = tasks
        for kind in self.kinds:
            self.ask("PUT", f"/connectors/{kind}/config", _config(kind, tasks))

    def flows_since(self, moment: float) -> bool:
        """Tell whether every partition of every connector has a number that was written after a moment."""
        return all(self.reader.flows_since(kind, moment) for kind in self.kinds)

    def busy_workers(self) -> list[list[psutil.Process]]:
        """Return the processes of each worker that has tasks, as `workers` does."""
        hosts = self.busy_hosts()
        return [worker for worker in self.workers() if any(host in worker for host in hosts)]

    def busy_hosts(self) -> list[psutil.Process]:
        """Return the task hosts that have tasks: those that talk to the broker."""
        port = int(self.broker.bootstrap.rpartition(":")[2])
        return [each for each in self.up.processes("host") if _talks_to(each, port)]

    def offsets(self, kind: str) -> dict[int, int]:
        """Return the committed number of each source partition."""
        found = self.ask("GET", f"/connectors/{kind}/offsets")["offsets"]
        return {each["partition"]["partition"]: each["offset"]["number"] for each in found}

    def finish(self) -> None:
        """Stop the connectors in good order and read to the end.

        Raises:
            TimeoutError: They do not stop, or a transaction stays open.
        """
        for kind in self.kinds:
            self.ask("PUT", f"/connectors/{kind}/stop")
        wait(self._released, ANSWER_SECONDS, "a task did not end")
        wait(self.reader.at_end, ANSWER_SECONDS, "the topics could not be read to their ends")

    def _released(self) -> bool:
        return not any("task" in held for worker in self.ask("GET", "/workers") for held in worker["held"])


@contextmanager
def running(folder: Path, kinds: Sequence[str]) -> Iterator[System]:
    """Run it, with numbers flowing through every connector."""
    with EmbeddedKafka(folder / "kafka", free_ports(1)[0]) as broker, System(broker, folder, kinds) as system:
        system.configure(system.tasks)
        wait(lambda: system.flows_since(0), ANSWER_SECONDS, "no numbers flow")
        yield system


def _config(kind: str, tasks: int) -> dict[str, str]:
    return {
        "connector.class": "counting.CountingSourceConnector",
        "tasks.max": str(tasks),
        "topic": kind,
        "partitions": str(PARTITIONS),
        "value.converter": STRING,
        **KINDS[kind],
    }


def _talks_to(process: psutil.Process, port: int) -> bool:
    try:
        return any(each.raddr and each.raddr.port == port for each in process.net_connections("tcp"))
    except psutil.NoSuchProcess:  # it has just ended
        return False
