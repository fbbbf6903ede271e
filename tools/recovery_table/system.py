"""The system that suffers: two workers, a line to Kafka that can be cut, a pipeline, a source beside it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx2
import psutil
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import LOOPBACK, free_ports
from copycat_testkit.arrivals import FolderLines, NumberSequence, Pulse, Tally
from copycat_testkit.counted_system import STRING, CountedSystem
from copycat_testkit.eventually import wait
from copycat_testkit.faults import small_disk
from copycat_testkit.statuses import WatchedStatuses
from copycat_testkit.wire import Wire

from tools.crash_matrix.system import COUNTING

STRUCK: Final = "struck"
SINK: Final = "struck-sink"
BESIDE: Final = "beside"
PARTITIONS: Final = 2
TASKS: Final = {STRUCK: PARTITIONS, SINK: PARTITIONS, BESIDE: PARTITIONS}
READY_SECONDS: Final = 300.0
CATCH_UP_SECONDS: Final = 30.0
#: How long a call into a connector or task may take; 90 s and a quarter of an hour by default.
PLUGIN_CALL_SECONDS: Final = 20
#: Nothing waits for a commit of a minute; a leak is seen before the machine's memory is gone.
SETTINGS: Final = {
    "services.in.one.process": "false",  # each is struck alone
    "offset.flush.interval.ms": "1000",
    "task.memory.max": str(400 << 20),
    "plugin.call.timeout.ms": str(PLUGIN_CALL_SECONDS * 1000),
    "task.call.timeout.ms": str(PLUGIN_CALL_SECONDS * 1000),
    "task.poll.timeout.ms": str(PLUGIN_CALL_SECONDS * 1000),
}
_AUTHORS: Final = (Path(__file__).with_name("author"), COUNTING)


class FaultySystem(CountedSystem):
    """A running system: a source and the sink of its topic, which are struck, and a source beside them."""

    def __init__(
        self, broker: EmbeddedKafka, folder: Path, wire: Wire, settings: Mapping[str, str], port: int
    ) -> None:
        super().__init__(
            broker,
            folder,
            (STRUCK, BESIDE),
            PARTITIONS,
            settings={**SETTINGS, **settings},
            plugins=_AUTHORS,
            executors=2,
            bootstrap=wire.address,
            port=port,
        )
        self.wire = wire
        self.statuses = WatchedStatuses(lambda: self.up.url, {STRUCK: PARTITIONS, SINK: PARTITIONS})
        self.pulses[SINK] = [Pulse() for _ in range(PARTITIONS)]
        self._lines = FolderLines(folder / SINK / "disk" / "lines", PARTITIONS)
        self._changes = 0

    def configure(self) -> None:
        """Create the connectors, or have them configured anew."""
        self._changes += 1
        for name in TASKS:
            self.ask("PUT", f"/connectors/{name}/config", self.config(name))

    def config(self, name: str) -> dict[str, str]:
        """Return a configuration that is another one each time it is asked for by `configure`."""
        shared = {
            "tasks.max": str(TASKS[name]),
            "folder": str(self.folder / name),
            "value.converter": STRING,
            "change": str(self._changes),
        }
        if name == SINK:
            return {**shared, "connector.class": "recovering.RecoveringSink", "topics": STRUCK}
        more = {"topic": name, "partitions": str(PARTITIONS), "at.once": "1"}
        return {**shared, **more, "connector.class": "recovering.RecoveringSource"}

    def host_of(self, name: str, task: int) -> psutil.Process:
        """Return the process that runs a task of a connector."""

        def found() -> bool:
            return psutil.pid_exists(self._noted(name, task))

        wait(found, READY_SECONDS, f"task {task} of {name} runs nowhere")
        return psutil.Process(self._noted(name, task))

    def worker_of(self, process: psutil.Process) -> list[psutil.Process]:
        """Return the processes of the worker that a process belongs to: the executor first."""
        return next((worker for worker in self.workers() if process in worker), [])

    def tallies(self) -> dict[str, Tally]:
        """Return what is lost and repeated so far, by connector."""
        topics = {topic: self.reader.tally(topic) for topic in (STRUCK, BESIDE)}
        return {**topics, SINK: sum((each.tally for each in self._lines.sequences), Tally())}

    def spread(self) -> bool:
        """Say whether every connector has a task on each worker."""
        for name, count in TASKS.items():
            pids = {self._noted(name, task) for task in range(count)}
            on = [any(process.pid in pids for process in worker) for worker in self.workers()]
            if not all(on):
                return False
        return True

    def settle(self) -> None:
        """Wait until all is well.

        Raises:
            TimeoutError: It does not get well; the text has what failed.
        """

        def well() -> bool:
            return self.statuses.running() and self.moves_since(0) and self.whole() and self.spread()

        try:
            wait(well, READY_SECONDS, "the system did not get well")
        except TimeoutError as error:
            raise TimeoutError("\n".join([str(error), *self.failures()])) from None

    def catch_up(self) -> bool:
        """Wait until the sink has what the topic has now; returns whether it came to that."""
        highest = [each.highest for each in self.reader.sequences[STRUCK]]

        def caught_up() -> bool:
            return all(
                mine.highest >= most for mine, most in zip(self._lines.sequences, highest, strict=True)
            )

        with contextlib.suppress(TimeoutError):
            wait(caught_up, CATCH_UP_SECONDS, "the sink lags behind")
        return caught_up()

    def ask_aside(self, method: str, path: str, body: Mapping[str, str] | None = None) -> None:
        """Send a request whose answer nobody waits for: author code may keep it back."""

        def send() -> None:
            with contextlib.suppress(httpx2.TransportError):
                httpx2.request(method, f"{self.up.url}{path}", json=body, timeout=120)

        threading.Thread(target=send, daemon=True).start()

    def _noted(self, name: str, task: int) -> int:
        file = self.folder / name / f"pid-{task}"
        text = file.read_text() if file.exists() else ""
        return int(text) if text else 0

    def numbers(self) -> Mapping[str, Sequence[NumberSequence]]:
        """Return what arrived so far in the topics, and in the files of the sink."""
        self._lines.read_on()
        return {**super().numbers(), SINK: self._lines.sequences}


@contextmanager
def faulty_system(folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[FaultySystem]:
    """Run it, with numbers flowing through every connector; `settings` are worker properties to add."""
    direct, behind, controller, front, rest = free_ports(5)
    for name in TASKS:
        (folder / name).mkdir(parents=True)
    with (
        small_disk(folder / SINK / "disk"),
        EmbeddedKafka(
            folder / "kafka", direct, settings=_two_doors(direct, behind, controller, front)
        ) as broker,
        Wire(front, behind) as wire,
        FaultySystem(broker, folder, wire, settings or {}, rest) as system,
        system.statuses,
    ):
        system.configure()
        yield system


def _two_doors(direct: int, behind: int, controller: int, front: int) -> dict[str, str]:
    """Return the settings of a broker that we reach directly, and the system through the wire."""
    return {
        "listeners": f"PLAINTEXT://{LOOPBACK}:{direct},WIRED://{LOOPBACK}:{behind},"
        f"CONTROLLER://{LOOPBACK}:{controller}",
        "advertised.listeners": f"PLAINTEXT://{LOOPBACK}:{direct},WIRED://{LOOPBACK}:{front}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,WIRED:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.quorum.voters": f"1@{LOOPBACK}:{controller}",
    }
