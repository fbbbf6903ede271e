"""Numbered lines from files through topics into files while things break, and what became of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

from copycat_testkit.arrivals import FolderLines, Pulse, Tally, move
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.statuses import WatchedStatuses

from tools.containers.fleet import Fleet

#: A source and a sink each; so many that every executor has some.
PIPELINES: Final = 3
LINE_SECONDS: Final = 0.05
LOOK_SECONDS: Final = 0.05
ARRIVE_SECONDS: Final = 180.0
#: Tasks of file connectors are found on a cluster of any size.
_FILE_SOURCE: Final = {"connector.class": "FileStreamSource", "tasks.max": "1"}
_FILE_SINK: Final = {"connector.class": "FileStreamSink", "tasks.max": "1"}


class Flow:
    """Writes lines into a file for each pipeline, and looks at what arrives at the other end."""

    def __init__(
        self, fleet: Fleet, pipelines: int = PIPELINES, delivery: Mapping[str, str] | None = None
    ) -> None:
        """Nothing flows yet; `delivery` are keys of every source and sink."""
        self.name = unique("flow")
        self.topics = [f"{self.name}-{number}" for number in range(pipelines)]
        self.sources = [f"{self.name}-source-{number}" for number in range(pipelines)]
        self.sinks = [f"{self.name}-sink-{number}" for number in range(pipelines)]
        self.pulses: Sequence[Pulse] = [Pulse() for _ in range(pipelines)]
        """When each pipeline moved on."""
        self.written = 0
        """How many lines each file has."""
        self._fleet = fleet
        self._delivery = dict(delivery or {})
        self._folder = fleet.data / self.name
        for folder in (self._folder, self._folder / "out"):
            folder.mkdir()
            folder.chmod(0o777)
        self._lines = FolderLines(self._folder / "out", pipelines)
        self._done = threading.Event()
        self._threads = [
            threading.Thread(target=self._write, name="lines"),
            threading.Thread(target=self._look, name="pulses"),
        ]
        self.statuses = WatchedStatuses(lambda: fleet.url, dict.fromkeys([*self.sources, *self.sinks], 1))

    def moves_since(self, moment: float) -> bool:
        """Tell whether every pipeline has moved on since a moment, and moves now."""
        return move(self.pulses, moment, within=2)

    def tally(self) -> Tally:
        """Return what is lost and repeated so far; what is on its way is neither."""
        return sum((each.tally for each in self._lines.sequences), Tally())

    def drain(self) -> Tally:
        """Write no more, wait until all that was written has arrived, and return the count."""
        self._done.set()
        self._threads[0].join()

        def arrived() -> bool:
            return all(each.highest >= self.written and not each.missing for each in self._lines.sequences)

        wait_until(arrived, ARRIVE_SECONDS, f"{self.written} lines arrived; {self.tally()}")
        return self.tally()

    def _configure(self) -> None:
        place = f"/data/{self.name}"
        for number, topic in enumerate(self.topics):
            source = {**_FILE_SOURCE, "topic": topic, "file": f"{place}/in-{number}.txt"}
            self._fleet.create(self.sources[number], {**source, **self._delivery})
            sink = {**_FILE_SINK, "topics": topic, "file": f"{place}/out/{number}.txt"}
            self._fleet.create(self.sinks[number], {**sink, **self._delivery})

    def _write(self) -> None:
        files = [self._file(number).open("w") for number in range(len(self.sources))]
        while not self._done.wait(LINE_SECONDS):
            self.written += 1
            for number, file in enumerate(files):
                file.write(f"{number} {self.written}\n")
                file.flush()
        for file in files:
            file.close()

    def _file(self, number: int) -> Path:
        return self._folder / f"in-{number}.txt"

    def _look(self) -> None:
        while True:
            self._lines.read_on()
            now = time.monotonic()
            for pulse, sequence in zip(self.pulses, self._lines.sequences, strict=True):
                pulse.look(sequence.arrived, now)
            if self._ended.wait(LOOK_SECONDS):
                return

    def __enter__(self) -> Flow:
        """Create the connectors and wait until lines come out of each."""
        self._ended = threading.Event()
        for number in range(len(self.sources)):
            self._file(number).touch(mode=0o666)
        for thread in self._threads:
            thread.start()
        try:
            self._configure()
            self.statuses.__enter__()
            begun = time.monotonic()
            wait_until(
                lambda: self.moves_since(begun) and self.statuses.running(),
                ARRIVE_SECONDS,
                "every pipeline moves",
            )
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write and look no more, and delete the connectors."""
        self.statuses.__exit__(kind, error, trace)
        self._end()
        if error is None:
            self._fleet.delete(*self.sources, *self.sinks)

    def _end(self) -> None:
        self._done.set()
        self._ended.set()
        for thread in self._threads:
            thread.join()
