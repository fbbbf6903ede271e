"""The system that suffers: a broker, a `copycat up` with two workers, a connector a guarantee, two sinks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psutil
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_testkit.arrivals import NumberSequence, Tally
from copycat_testkit.counted_system import STRING, CountedSystem
from copycat_testkit.eventually import wait

from tools.crash_matrix.sinks import SinkFile

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
    "exactly_once_lines": {
        "delivery.guarantee": "exactly_once",
        "transaction.boundary": "interval",
        "transaction.boundary.interval.ms": "300",
        "at.once": "1",
        "placed": "true",
    },
}
#: What each kind of sink is given beyond its file; all read the topic of the lines.
SINKS: Final[Mapping[str, Mapping[str, str]]] = {
    "file_sink": {"delivery.guarantee": "at_least_once"},
    "exactly_once_sink": {"delivery.guarantee": "exactly_once"},
}
LINES: Final = "exactly_once_lines"
#: Short waits: the matrix has many rounds.
SETTINGS: Final = {
    "offset.flush.interval.ms": "500",
    "scheduled.rebalance.max.delay.ms": "0",
    "services.in.one.process": "false",  # each is struck alone
}
COUNTING: Final = Path(__file__).with_name("author")
"""The folder of the plugin that counts."""


class System(CountedSystem):
    """A running system. Each connector is named as its guarantee, and so is the topic of a source."""

    def __init__(self, broker: EmbeddedKafka, folder: Path, kinds: Sequence[str]) -> None:
        wanted = [kind for kind in kinds if kind in SINKS]
        feed = [LINES] if wanted and LINES not in kinds else []
        self.kinds = [*kinds, *feed]
        """The connectors; sinks bring the source of what they read."""
        self.sources = [kind for kind in self.kinds if kind not in SINKS]
        """Those that write to topics of their names."""
        super().__init__(
            broker, folder, self.sources, PARTITIONS, settings=SETTINGS, plugins=[COUNTING], executors=WORKERS
        )
        self.sinks = {kind: SinkFile(folder / f"{kind}.txt", PARTITIONS) for kind in wanted}
        """What each sink writes."""
        self.tasks = 2
        """How many tasks each connector is to have."""

    def configure(self, tasks: int) -> None:
        """Create the connectors, or change how many tasks they have."""
        self.tasks = tasks
        for kind in self.kinds:
            config = self._sink_config(kind) if kind in SINKS else _source_config(kind)
            self.ask("PUT", f"/connectors/{kind}/config", {"tasks.max": str(tasks), **config})

    def flows_since(self, moment: float) -> bool:
        """Tell whether every partition of every connector has a number that was written after a moment."""
        return all(self.reader.flows_since(kind, moment) for kind in self.sources) and all(
            file.flows_since(moment) for file in self.sinks.values()
        )

    def count(self, kind: str) -> Tally:
        """Return what a connector lost and repeated so far."""
        return self.sinks[kind].tally() if kind in SINKS else self.reader.tally(kind)

    def arrived(self, kind: str) -> Sequence[NumberSequence]:
        """Return the numbers that a connector brought, by partition."""
        return self.sinks[kind].sequences() if kind in SINKS else self.reader.sequences[kind]

    def busy_workers(self) -> list[list[psutil.Process]]:
        """Return the processes of each worker that has tasks, as `workers` does."""
        hosts = self.busy_hosts()
        return [worker for worker in self.workers() if any(host in worker for host in hosts)]

    def busy_hosts(self) -> list[psutil.Process]:
        """Return the task hosts that have tasks: those that talk to the broker."""
        port = int(self.broker.bootstrap.rpartition(":")[2])
        return [each for each in self.up.processes("host") if _talks_to(each, port)]

    def offsets(self, kind: str) -> dict[int, int]:
        """Return the committed number of each source partition; for a sink, of the source that it reads."""
        found = self.ask("GET", f"/connectors/{LINES if kind in SINKS else kind}/offsets")["offsets"]
        return {each["partition"]["partition"]: each["offset"]["number"] for each in found}

    def finish(self) -> None:
        """Stop the connectors in good order and read to the end.

        Raises:
            TimeoutError: They do not stop, or a transaction stays open.
        """
        self._stop_all(self.sources)
        wait(self.reader.at_end, ANSWER_SECONDS, "the topics could not be read to their ends")
        wait(self._drained, ANSWER_SECONDS, "a sink did not write all it reads")
        self._stop_all(self.sinks)

    def _drained(self) -> bool:
        read = [each.highest for each in self.reader.sequences[LINES]] if self.sinks else []
        return all([each.highest for each in self.arrived(kind)] == read for kind in self.sinks)

    def _stop_all(self, kinds: Collection[str]) -> None:
        for kind in kinds:
            self.ask("PUT", f"/connectors/{kind}/stop")
        wait(lambda: not self._held(kinds), ANSWER_SECONDS, "a task did not end")

    def _sink_config(self, kind: str) -> dict[str, str]:
        return {
            "connector.class": "FileStreamSink",
            "topics": LINES,
            "file": str(self.sinks[kind].path),
            "value.converter": STRING,
            **SINKS[kind],
        }

    def _held(self, kinds: Collection[str]) -> list[str]:
        """Return the connectors of these of which a worker has a task."""
        held = [each for worker in self.ask("GET", "/workers") for each in worker["held"] if "task" in each]
        return [each["connector"] for each in held if each["connector"] in kinds]


@contextmanager
def running(folder: Path, kinds: Sequence[str]) -> Iterator[System]:
    """Run it, with numbers flowing through every connector."""
    with EmbeddedKafka(folder / "kafka", free_ports(1)[0]) as broker, System(broker, folder, kinds) as system:
        system.configure(system.tasks)
        wait(lambda: system.flows_since(0), ANSWER_SECONDS, "no numbers flow")
        yield system


def _source_config(kind: str) -> dict[str, str]:
    return {
        "connector.class": "counting.CountingSourceConnector",
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
