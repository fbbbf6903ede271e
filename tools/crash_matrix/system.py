"""The system that suffers: a broker, a `copycat up` with two workers, one counting connector a guarantee."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx2
import psutil
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_testkit.arrivals import Reader
from copycat_testkit.eventually import wait
from copycat_testkit.processes import command_line
from copycat_testkit.system import CopycatUp

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
_STRING: Final = "org.apache.kafka.connect.storage.StringConverter"
_PLUGINS: Final = {"PYTHONPATH": str(Path(__file__).with_name("author"))}


class System:
    """A running system. Each connector is named as its guarantee, and so is its topic."""

    def __init__(self, broker: EmbeddedKafka, up: CopycatUp, reader: Reader, kinds: Sequence[str]) -> None:
        self.broker = broker
        self.up = up
        self.reader = reader
        self.kinds = kinds
        self.tasks = 2
        """How many tasks each connector is to have."""
        fresh = httpx2.Limits(max_keepalive_connections=0)  # the gateway may be restarted at any time
        self._http = httpx2.Client(base_url=up.url, timeout=30, limits=fresh)

    def ask(self, method: str, path: str, body: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401 - JSON
        """Send a request until it succeeds, as somebody does who wants it done; returns the body.

        Raises:
            TimeoutError: It did not for a minute and a half; the text has the last answer.
        """
        deadline, said = time.monotonic() + ANSWER_SECONDS, ""
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx2.TransportError):
                reply = self._http.request(method, path, json=body)
                if reply.is_success:
                    return reply.json() if reply.content else None
                said = f"{reply.status_code} {reply.text}"
            time.sleep(0.1)
        message = f"{method} {path} did not succeed: {said}"
        raise TimeoutError(message)

    def configure(self, tasks: int) -> None:
        """Create the connectors, or change how many tasks they have."""
        self.tasks = tasks
        for kind in self.kinds:
            self.ask("PUT", f"/connectors/{kind}/config", _config(kind, tasks))

    def flows_since(self, moment: float) -> bool:
        """Tell whether every partition of every connector has a number that was written after a moment."""
        return all(self.reader.flows_since(kind, moment) for kind in self.kinds)

    def whole(self) -> bool:
        """Tell whether every service answers and every worker is there."""
        try:
            if not self._http.get("/health").is_success:
                return False
            workers = self._http.get("/workers").json()
        except httpx2.TransportError:
            return False
        return sum(not each["leaving"] for each in workers) == WORKERS

    def failures(self) -> list[str]:
        """Return the traces of connectors and tasks that have failed."""
        found = self.ask("GET", "/connectors?expand=status").values()
        parts = [part for each in found for part in (each["status"]["connector"], *each["status"]["tasks"])]
        return [part.get("trace", "") for part in parts if part["state"] == "FAILED"]

    def busy_workers(self) -> list[list[psutil.Process]]:
        """Return the processes of each worker that has tasks, as `workers` does."""
        hosts = self.busy_hosts()
        return [worker for worker in self.workers() if any(host in worker for host in hosts)]

    def workers(self) -> list[list[psutil.Process]]:
        """Return the processes of each worker: executor first, then Spark's and the hosts."""
        executors = [each for each in self.up.processes("executor") if _is_executor(each)]
        return [[each, *_below(each)] for each in executors]

    def busy_hosts(self) -> list[psutil.Process]:
        """Return the task hosts that have tasks: those that talk to the broker."""
        port = int(self.broker.bootstrap.rpartition(":")[2])
        return [each for each in self.up.processes("host") if _talks_to(each, port)]

    def offsets(self, kind: str) -> dict[int, int]:
        """Return the committed number of each source partition."""
        found = self.ask("GET", f"/connectors/{kind}/offsets")["offsets"]
        return {each["partition"]["partition"]: each["offset"]["number"] for each in found}

    def stop(self) -> None:
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
    options = [part for key, value in SETTINGS.items() for part in ("--set", f"{key}={value}")]
    with EmbeddedKafka(folder / "kafka", free_ports(1)[0]) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 2})
        for made in admin.create_topics([NewTopic(kind, PARTITIONS, 1) for kind in kinds]).values():
            made.result(ANSWER_SECONDS)
        up = CopycatUp(
            folder / "data",
            broker.bootstrap,
            options=[*options, "--executors", str(WORKERS)],
            environment=_PLUGINS,
        )
        with up, Reader(broker.bootstrap, kinds, PARTITIONS) as reader:
            system = System(broker, up, reader, kinds)
            system.configure(system.tasks)
            wait(lambda: system.flows_since(0), ANSWER_SECONDS, "no numbers flow")
            yield system


def _config(kind: str, tasks: int) -> dict[str, str]:
    return {
        "connector.class": "counting.CountingSourceConnector",
        "tasks.max": str(tasks),
        "topic": kind,
        "partitions": str(PARTITIONS),
        "value.converter": _STRING,
        **KINDS[kind],
    }


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:  # it has just ended
        return []


def _is_executor(process: psutil.Process) -> bool:
    return "copycat_executor" in command_line(process)


def _talks_to(process: psutil.Process, port: int) -> bool:
    try:
        return any(each.raddr and each.raddr.port == port for each in process.net_connections("tcp"))
    except psutil.NoSuchProcess:  # it has just ended
        return False
