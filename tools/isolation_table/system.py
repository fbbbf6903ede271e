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
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from copycat_connect.config.worker_keys import BROKER_DATA_DIR
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_testkit.arrivals import Pulse, Reader, Tally, longest_gap, move
from copycat_testkit.eventually import wait
from copycat_testkit.faults import mount_disk, unmount_disk
from copycat_testkit.system import CopycatUp

NEIGHBOURS: Final = tuple(f"healthy-{number}" for number in range(10))
RECORDS_PER_SECOND: Final = 1_000
"""Of each neighbour."""
POLLS_PER_SECOND: Final = 50
READY_SECONDS: Final = 300.0
LOOK_SECONDS: Final = 0.05
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
_STRING: Final = "org.apache.kafka.connect.storage.StringConverter"
_AUTHORS: Final = (Path(__file__).with_name("author"), Path(__file__).parents[1] / "crash_matrix/author")


@dataclass(frozen=True, slots=True)
class Answer:
    """What REST made of one request."""

    asked: float
    """When, of `time.monotonic`."""
    seconds: float
    """How long the answer took; of one that was not waited for any longer, how long that was."""
    problem: str
    """Empty where it was the answer that a healthy connector gets."""


class Neighbourhood:
    """The healthy connectors, what arrives of them, and a user who asks about them without a pause."""

    def __init__(
        self, broker: EmbeddedKafka, up: CopycatUp, reader: Reader, folder: Path, settings: Mapping[str, str]
    ) -> None:
        self._settings = settings
        self.broker = broker
        self.up = up
        self.reader = reader
        self.folder = folder
        """For whatever a harm needs."""
        self.answers: list[Answer] = []
        """Of the user who asks, in order."""
        self.pulses = {name: Pulse() for name in NEIGHBOURS}
        """When each neighbour's records arrived."""
        self.admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 2})
        self._done = threading.Event()
        self._asks = threading.Event()
        self._threads = [
            threading.Thread(target=self._look, name="pulses"),
            threading.Thread(target=self._ask_on, name="a user who asks"),
        ]

    @property
    def logs(self) -> Path:
        """The folder of the logs that `copycat up` writes."""
        return self.up.folder

    def call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        """Send a request and return whatever comes back."""
        return httpx2.request(
            method, f"{self.up.url}{path}", json=body, headers=headers, timeout=ANSWER_SECONDS
        )

    def create(self, name: str, config: Mapping[str, str]) -> httpx2.Response:
        """Ask for a connector, under the converter that the neighbours have."""
        return self.call("PUT", f"/connectors/{name}/config", {"value.converter": _STRING, **config})

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
            message = f"Kafka did not take a record of {topic}"
            raise TimeoutError(message)

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
            return answered and move(self.pulses.values(), since, within=1)

        wait(well, READY_SECONDS, "the neighbours are not well")

    def tally(self) -> Tally:
        """Return what was lost and repeated of all neighbours so far."""
        return sum((self.reader.tally(name) for name in NEIGHBOURS), Tally())

    def longest_gap(self, since: float) -> float:
        """Return the longest time in seconds, since a moment, without a record of some neighbour."""
        return longest_gap(self.pulses.values(), since)

    def restart(self, accepted: str = "") -> float:
        """Stop the whole of Copycat and start it again; returns the seconds until all neighbours are well.

        `accepted` names internal topics whose loss is accepted; the neighbours are created anew then.

        Raises:
            AssertionError: It does not stop in time or does not come up.
            TimeoutError: Its connectors do not get well.
        """
        self._asks.clear()
        self.up.stop()
        began = time.monotonic()
        self.up = copycat(
            self.folder, self.broker, {**self._settings, "lost.topics.accept": accepted}, self.up.port
        )
        self.up.start()
        if accepted:
            self.configure()
        self._asks.set()
        self.settle()
        return time.monotonic() - began

    def _look(self) -> None:
        while not self._done.wait(LOOK_SECONDS):
            now = time.monotonic()
            for name, pulse in self.pulses.items():
                pulse.look(self.reader.sequences[name][0].arrived, now)

    def _ask_on(self) -> None:
        name = NEIGHBOURS[0]
        config = {"value.converter": _STRING, **neighbour(name)}
        validated = {"name": name, **config}
        validate = "/connector-plugins/counting.CountingSourceConnector/config/validate"
        requests = (
            ("GET", "/connectors", None),
            ("GET", f"/connectors/{name}/status", None),
            ("GET", f"/connectors/{name}/offsets", None),
            ("PUT", validate, validated),
            ("PUT", f"/connectors/{name}/config", config),
        )
        while not self._done.is_set():
            for method, path, body in requests:
                if self._asks.wait(ASK_PAUSE_SECONDS):
                    self._ask(method, path, body)
                if self._done.wait(ASK_PAUSE_SECONDS):
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
        self._asks.set()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Look and ask no more, and stop Copycat."""
        self._done.set()
        for thread in self._threads:
            thread.join()
        self.up.stop()


def neighbour(name: str) -> dict[str, str]:
    """Return the configuration of a healthy connector, whose topic has its name."""
    return {
        "connector.class": "counting.CountingSourceConnector",
        "tasks.max": "1",
        "topic": name,
        "partitions": "1",
        "at.once": str(RECORDS_PER_SECOND // POLLS_PER_SECOND),
    }


def copycat(folder: Path, broker: EmbeddedKafka, settings: Mapping[str, str], port: int = 0) -> CopycatUp:
    """Return a `copycat up` on a broker, not started; `settings` are worker properties."""
    return CopycatUp(
        folder / "data",
        broker.bootstrap,
        port=port,
        options=[part for key, value in settings.items() for part in ("--set", f"{key}={value}")],
        environment={"PYTHONPATH": ":".join(map(str, _AUTHORS))},
    )


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
        admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 2})
        for made in admin.create_topics([NewTopic(each, 1, 1) for each in NEIGHBOURS]).values():
            made.result(READY_SECONDS)
        up = copycat(folder, broker, properties).start()
        system = Neighbourhood(broker, up, Reader(broker.bootstrap, NEIGHBOURS, 1), folder, properties)
        stack.enter_context(system.reader)
        stack.enter_context(system)
        system.configure()
        system.settle()
        yield system
