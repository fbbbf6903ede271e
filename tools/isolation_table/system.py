"""A running system with ten healthy connectors, watched all the time: what arrives, and how REST answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import httpx2
from confluent_kafka import Producer
from confluent_kafka.cimpl import NewTopic
from copycat_connect.config.worker_keys import BROKER_DATA_DIR
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_testkit.arrivals import longest_gap
from copycat_testkit.counted_system import STRING, CountedSystem
from copycat_testkit.eventually import wait
from copycat_testkit.faults import mount_disk, unmount_disk

from tools.crash_matrix.system import COUNTING

NEIGHBOURS: Final = tuple(f"healthy-{number}" for number in range(10))
RECORDS_PER_SECOND: Final = 1_000
"""Of each neighbour."""
POLLS_PER_SECOND: Final = 50
READY_SECONDS: Final = 300.0
ASK_PAUSE_SECONDS: Final = 0.2
ANSWER_SECONDS: Final = 60.0
#: Calls are given up soon, so that a table of many hangs does not take a day.
SETTINGS: Final = {
    "offset.flush.interval.ms": "1000",
    "plugin.call.timeout.ms": "10000",
    "task.call.timeout.ms": "10000",
    "config.providers": "file",
    "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
}
#: More than all rows write that are measured on it.
SMALL_DISK: Final = "2g"
_AUTHORS: Final = (Path(__file__).with_name("author"), COUNTING)


@dataclass(frozen=True, slots=True)
class Answer:
    """What REST made of one request."""

    asked: float
    """When, of `time.monotonic`."""
    seconds: float
    """How long the answer took; of one that was not waited for any longer, how long that was."""
    problem: str
    """Empty where it was the answer that a healthy connector gets."""


class Neighbourhood(CountedSystem):
    """The healthy connectors, what arrives of them, and a user who asks about them without a pause."""

    def __init__(self, broker: EmbeddedKafka, folder: Path, settings: Mapping[str, str]) -> None:
        super().__init__(broker, folder, NEIGHBOURS, 1, settings=settings, plugins=_AUTHORS)
        self.answers: list[Answer] = []
        """Of the user who asks, in order."""
        self._asks = threading.Event()
        self._left = threading.Event()
        self._user = threading.Thread(target=self._ask_on, name="a user who asks")

    @property
    def logs(self) -> Path:
        """The folder of the logs that `copycat up` writes."""
        return self.up.folder

    def create(self, name: str, config: Mapping[str, str]) -> httpx2.Response:
        """Ask for a connector, under the converter that the neighbours have."""
        return self.call("PUT", f"/connectors/{name}/config", {"value.converter": STRING, **config})

    def status(self, name: str) -> Any:  # noqa: ANN401 - JSON
        """Return a connector's status; nothing without a status or an answer."""
        try:
            reply = self.call("GET", f"/connectors/{name}/status")
        except httpx2.TransportError:
            return {}
        return reply.json() if reply.is_success else {}

    def remove(self, name: str) -> None:
        """Delete a connector, if it is there, and wait until it is gone."""
        wait(
            lambda: self.call("DELETE", f"/connectors/{name}").status_code in (204, 404),
            ANSWER_SECONDS,
            f"{name} cannot be deleted",
        )

    def make_topic(self, name: str) -> None:
        """Make a topic, unless it is there."""
        made = self.admin.create_topics([NewTopic(name, 1, 1)])[name]
        if "already exists" not in str(made.exception(ANSWER_SECONDS)):
            made.result(ANSWER_SECONDS)

    def write(self, topic: str, key: bytes, value: bytes | None, **producer: str) -> None:
        """Append a record as another client would; `producer` has its settings, with `_` for a dot."""
        settings = {name.replace("_", "."): value for name, value in producer.items()}
        client = Producer({"bootstrap.servers": self.broker.bootstrap, "log_level": 2, **settings})
        client.produce(topic, value, key)
        if client.flush(ANSWER_SECONDS):
            raise TimeoutError(f"Kafka did not take a record of {topic}")

    def configure(self) -> None:
        """Create the neighbours, one process of tasks for all but what Copycat decides otherwise."""
        for name in NEIGHBOURS:
            reply = self.create(name, neighbour(name))
            reply.raise_for_status()

    def settle(self) -> None:
        """Wait until every neighbour's records arrive and every request is answered well.

        Raises:
            TimeoutError: They do not.
        """
        since = time.monotonic()

        def well() -> bool:
            last = self.answers[-1] if self.answers else None
            answered = last is not None and last.asked > since and not last.problem
            return answered and self.moves_since(since)

        wait(well, READY_SECONDS, "the neighbours are not well")

    def longest_gap(self, since: float) -> float:
        """Return the longest time in seconds, since a moment, without a record of some neighbour."""
        return longest_gap((pulse for each in self.pulses.values() for pulse in each), since)

    def restart(self, accepted: str = "") -> float:
        """Stop the whole of Copycat and start it again; returns the seconds until all neighbours are well.

        `accepted` names internal topics whose loss is accepted; the neighbours are created anew then.

        Raises:
            AssertionError: It does not stop in time or does not come up.
            TimeoutError: Its connectors do not get well.
        """
        self._asks.clear()
        began = self.restart_all({"lost.topics.accept": accepted})
        if accepted:
            self.configure()
        self._asks.set()
        self.settle()
        return time.monotonic() - began

    def _ask_on(self) -> None:
        name = NEIGHBOURS[0]
        config = {"value.converter": STRING, **neighbour(name)}
        validated = {"name": name, **config}
        validate = "/connector-plugins/counting.CountingSourceConnector/config/validate"
        requests = (
            ("GET", "/connectors", None),
            ("GET", f"/connectors/{name}/status", None),
            ("GET", f"/connectors/{name}/offsets", None),
            ("PUT", validate, validated),
            ("PUT", f"/connectors/{name}/config", config),
        )
        while not self._left.is_set():
            for method, path, body in requests:
                if self._asks.wait(ASK_PAUSE_SECONDS):
                    self._ask(method, path, body)
                if self._left.wait(ASK_PAUSE_SECONDS):
                    return

    def _ask(self, method: str, path: str, body: object) -> None:
        asked, problem = time.monotonic(), ""
        try:
            reply = self.call(method, path, body)
            if not reply.is_success:
                problem = f"{method} {path}: {reply.status_code} {reply.text[:200]}"
        except httpx2.TransportError as error:
            problem = f"{method} {path}: {error!r}"
        if self._asks.is_set():
            self.answers.append(Answer(asked, time.monotonic() - asked, problem))

    def __enter__(self) -> Neighbourhood:
        """Look and ask from now on."""
        super().__enter__()
        self._asks.set()
        self._user.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Look and ask no more, and stop Copycat."""
        self._left.set()
        self._user.join()
        super().__exit__(kind, error, trace)


def neighbour(name: str) -> dict[str, str]:
    """Return the configuration of a healthy connector, whose topic has its name."""
    return {
        "connector.class": "counting.CountingSourceConnector",
        "tasks.max": "1",
        "topic": name,
        "partitions": "1",
        "at.once": str(RECORDS_PER_SECOND // POLLS_PER_SECOND),
    }


@contextmanager
def neighbourhood(
    folder: Path, settings: Mapping[str, str] | None = None, *, small_disk: bool = False
) -> Iterator[Neighbourhood]:
    """Run it; `settings` are worker properties to add, `small_disk` puts Kafka's data on a disk of its own.

    Raises:
        AssertionError: It does not start, or this user may not mount a disk.
    """
    kafka = folder / "kafka"
    properties = {**SETTINGS, BROKER_DATA_DIR.name: str(kafka), **(settings or {})}
    with ExitStack() as stack:
        if small_disk:
            assert mount_disk(kafka, SMALL_DISK), "this user may not mount a disk: run it as root"
            stack.callback(unmount_disk, kafka)
        broker = stack.enter_context(EmbeddedKafka(kafka, free_ports(1)[0]))
        system = stack.enter_context(Neighbourhood(broker, folder, properties))
        system.configure()
        system.settle()
        yield system
