"""A whole Copycat on a Kafka of its own, to be struck by faults while all that arrives is counted."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeVar

import httpx2
import psutil
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from copycat_embedded.broker import EmbeddedKafka

from copycat_testkit.arrivals import ArrivalReader, NumberSequence, Pulse, Tally, move
from copycat_testkit.processes import command_line
from copycat_testkit.system import CopycatUp

LOOK_SECONDS: Final = 0.05
TOPIC_SECONDS: Final = 90.0
#: How long somebody goes on asking who wants something done.
ASK_SECONDS: Final = 90.0
#: How long one request may take, and one that is sent again where nobody answers.
REQUEST_SECONDS: Final = 60.0
AGAIN_SECONDS: Final = 30.0
STRING: Final = "org.apache.kafka.connect.storage.StringConverter"

S = TypeVar("S", bound="CountedSystem")


class CountedSystem:
    """One `copycat up`, its REST interface and processes, and what arrives in the topics of its connectors.

    Each connector that counts has a topic of its name. Leave it to stop it; the Kafka is the caller's.
    """

    def __init__(
        self,
        broker: EmbeddedKafka,
        folder: Path,
        topics: Sequence[str],
        partitions: int,
        *,
        settings: Mapping[str, str],
        plugins: Sequence[Path],
        executors: int = 1,
        bootstrap: str = "",
        port: int = 0,
    ) -> None:
        """Make it for a running Kafka; nothing starts yet.

        Args:
            broker: The Kafka; records are counted there.
            folder: Where data and logs of Copycat are kept, in `data`.
            topics: One for each connector that counts; they are made.
            partitions: How many each topic has.
            settings: Worker properties.
            plugins: Folders of plugins that it finds.
            executors: How many workers it has.
            bootstrap: Where Copycat finds the Kafka, if not at its address.
            port: Of its REST interface; 0 picks a free one.
        """
        self.broker = broker
        self.folder = folder
        self.reader = ArrivalReader(broker.bootstrap, topics, partitions)
        """What arrived in the topics."""
        self.pulses: dict[str, list[Pulse]] = {
            topic: [Pulse() for _ in range(partitions)] for topic in topics
        }
        """When the partitions of each connector moved on."""
        self.admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 2})
        self._topics = tuple(topics)
        self._partitions = partitions
        self._settings = settings
        self._plugins = plugins
        self._executors = executors
        self._bootstrap = bootstrap or broker.bootstrap
        self.up = self._copycat({}, port)
        fresh = httpx2.Limits(max_keepalive_connections=0)  # the gateway may be restarted at any time
        self._http = httpx2.Client(base_url=self.up.url, limits=fresh)
        self._done = threading.Event()
        self._looks = threading.Thread(target=self._look, name="pulses")
        self._running = ExitStack()

    def _copycat(self, settings: Mapping[str, str], port: int) -> CopycatUp:
        properties = {**self._settings, **settings}
        return CopycatUp(
            self.folder / "data",
            self._bootstrap,
            port=port,
            settings=properties,
            options=["--executors", str(self._executors)],
            environment={"PYTHONPATH": ":".join(map(str, self._plugins))},
        )

    def restart_all(self, settings: Mapping[str, str]) -> float:
        """Stop the whole of Copycat and start it again; returns the moment at which it began to start.

        `settings` are worker properties to add.

        Raises:
            AssertionError: It does not stop in time or does not come up.
        """
        self.up.stop()
        began = time.monotonic()
        self.up = self._copycat(settings, self.up.port)
        self.up.start()
        return began

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = REQUEST_SECONDS,
    ) -> httpx2.Response:
        """Send a request and return whatever comes back."""
        return self._http.request(method, path, json=body, headers=headers, timeout=seconds)

    def ask(self, method: str, path: str, body: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401 - JSON
        """Send a request until it succeeds, as somebody does who wants it done; returns the body.

        Raises:
            TimeoutError: It did not for a minute and a half; the text has the last answer.
        """
        deadline, said = time.monotonic() + ASK_SECONDS, ""
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx2.TransportError):
                reply = self.call(method, path, body, seconds=AGAIN_SECONDS)
                if reply.is_success:
                    return reply.json() if reply.content else None
                said = f"{reply.status_code} {reply.text}"
            time.sleep(0.1)
        raise TimeoutError(f"{method} {path} did not succeed: {said}")

    def whole(self) -> bool:
        """Tell whether every service answers and every worker is there."""
        try:
            if not self.call("GET", "/health", seconds=AGAIN_SECONDS).is_success:
                return False
            workers = self.call("GET", "/workers", seconds=AGAIN_SECONDS).json()
        except httpx2.TransportError:
            return False
        return sum(not each["leaving"] for each in workers) == self._executors

    def failures(self) -> list[str]:
        """Return the traces of connectors and tasks that have failed."""
        found = self.ask("GET", "/connectors?expand=status").values()
        parts = [part for each in found for part in (each["status"]["connector"], *each["status"]["tasks"])]
        return [part.get("trace", "") for part in parts if part["state"] == "FAILED"]

    def workers(self) -> list[list[psutil.Process]]:
        """Return the processes of each worker: executor first, then Spark's and the hosts."""
        executors = [each for each in self.up.processes("executor") if _is_executor(each)]
        return [[each, *_below(each)] for each in executors]

    def numbers(self) -> Mapping[str, Sequence[NumberSequence]]:
        """Return what arrived so far, by connector and partition."""
        return self.reader.sequences

    def tally(self) -> Tally:
        """Return what is lost and repeated in all topics so far."""
        return sum(map(self.reader.tally, self._topics), Tally())

    def moves_since(self, moment: float) -> bool:
        """Tell whether every partition of every connector has moved on since a moment, and moves now."""
        return move((pulse for each in self.pulses.values() for pulse in each), moment, within=1)

    def _look(self) -> None:
        while not self._done.wait(LOOK_SECONDS):
            found, now = self.numbers(), time.monotonic()
            for name, pulses in self.pulses.items():
                for pulse, numbers in zip(pulses, found[name], strict=True):
                    pulse.look(numbers.arrived, now)

    def _stop(self) -> None:
        self.up.stop()  # the one that runs by then

    def __enter__(self: S) -> S:
        """Make the topics, start Copycat and count from now on."""
        made = self.admin.create_topics([NewTopic(each, self._partitions, 1) for each in self._topics])
        for topic in made.values():
            topic.result(TOPIC_SECONDS)
        with ExitStack() as stack:
            stack.enter_context(self.reader)
            self.up.start()
            stack.callback(self._stop)
            self._looks.start()
            stack.callback(self._looks.join)
            stack.callback(self._done.set)
            self._running = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Count no more, and stop Copycat."""
        self._running.close()


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:  # it has just ended
        return []


def _is_executor(process: psutil.Process) -> bool:
    return "copycat_executor" in command_line(process)
