"""Measures the record path alone: file to topic and topic to file in a task host, without Spark and services.

    python -m tools.bench.record_path [--records N] [--bootstrap HOST:PORT] [case ...]

Without a bootstrap address an embedded Kafka is started. Prints records a second and CPU time a record.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from confluent_kafka import KafkaException

from tools.bench.in_process import InProcessExecutor
from tools.bench.load import Topics, in_envelopes, write_lines
from tools.bench.record_paths import (
    FILE_TO_TOPIC_JSON_2SMT,
    JSON_PLAIN,
    JSON_SCHEMAS,
    STRING,
    TOPIC_TO_FILE_JSON_4SMT,
)
from tools.bench.systems import shipped_kafka

FILE = "org.apache.kafka.connect.file.FileStream"
PACE = 0.005

CASES: Mapping[str, Mapping[str, str]] = {
    "source-default": {},
    "source-tuned": {"producer.override.linger.ms": "20", "producer.override.batch.size": "1000000"},
    "source-json-2smt": FILE_TO_TOPIC_JSON_2SMT,
    "sink-raw": {},
    "sink-json": JSON_PLAIN,
    "sink-json-4smt": TOPIC_TO_FILE_JSON_4SMT,
    "sink-schemas": JSON_SCHEMAS,
}


def main() -> None:
    """Run the cases and print their rates."""
    parser = argparse.ArgumentParser(description="Measure the record path without Spark and services.")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--bootstrap")
    parser.add_argument("cases", nargs="*", default=list(CASES))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _kafka(arguments.bootstrap, Path(folder)) as bootstrap:
        source = Path(folder) / "lines.txt"
        write_lines(source, arguments.records)
        bench = Bench(bootstrap, Path(folder), source, arguments.records)
        for case in arguments.cases:
            print(bench.run(case, CASES[case]), flush=True)


@contextmanager
def _kafka(bootstrap: str | None, folder: Path) -> Iterator[str]:
    if bootstrap is not None:
        yield bootstrap
        return
    with shipped_kafka(folder / "kafka") as broker:
        yield broker.bootstrap


class _Counted:
    """Counts the lines of a file that grows."""

    def __init__(self, lines: BinaryIO) -> None:
        self._lines = lines
        self._count = 0

    def __call__(self) -> int:
        self._count += self._lines.read().count(b"\n")
        return self._count


class Bench:
    """Runs cases on one broker."""

    def __init__(self, bootstrap: str, folder: Path, source: Path, count: int) -> None:
        self._topics = Topics(bootstrap)
        self._folder = folder
        self._source = source
        self._count = count
        self._filled = ""
        self._made: set[str] = set()
        converters = {f"{name}.converter": STRING for name in ("key", "value", "header")}
        self._executor = InProcessExecutor({"bootstrap.servers": bootstrap, **converters})

    def run(self, case: str, config: Mapping[str, str]) -> str:
        """Run one case; returns a line with its numbers."""
        name = f"{case}-{time.time_ns()}"
        move = self._source_case if case.startswith("source") else self._sink_case
        if not case.startswith("source"):
            self._fill(envelopes=config is JSON_SCHEMAS)
        cpu = time.process_time()
        rate = move(name, config)
        cpu = (time.process_time() - cpu) / self._count * 1e6
        return f"{case:18} {rate / 1000:7.0f} k records/s   {cpu:5.2f} us CPU a record"

    def _fill(self, *, envelopes: bool) -> None:
        self._filled = "envelopes" if envelopes else "lines"
        if self._filled not in self._made:
            self._made.add(self._filled)
            self._topics.create(self._filled)
            self._topics.fill(self._filled, self._source, in_envelopes if envelopes else bytes)

    def _source_case(self, name: str, config: Mapping[str, str]) -> float:
        self._topics.create(name)
        files = {"connector.class": f"{FILE}SourceConnector", "file": str(self._source), "topic": name}
        task = self._executor.start({"name": name, **files, **config})
        rate = self._rate(lambda: self._end(name))
        self._executor.stop(task)
        self._topics.delete(name)
        return rate

    def _end(self, topic: str) -> int:
        try:
            return self._topics.end(topic)
        except KafkaException:  # the new topic has no leader yet
            return 0

    def _sink_case(self, name: str, config: Mapping[str, str]) -> float:
        target = self._folder / f"{name}.out"
        files = {"connector.class": f"{FILE}SinkConnector", "file": str(target), "topics": self._filled}
        task = self._executor.start({"name": name, **files, **config}, self._filled)
        target.touch()
        with target.open("rb") as lines:
            rate = self._rate(_Counted(lines))
        self._executor.stop(task)
        target.unlink()
        return rate

    def _rate(self, moved: Callable[[], int]) -> float:
        first = self._wait(moved, 1)
        started = time.perf_counter()
        self._wait(moved, self._count)
        return (self._count - first) / (time.perf_counter() - started)

    def _wait(self, moved: Callable[[], int], least: int) -> int:
        until = time.perf_counter() + 120
        while (count := moved()) < least:
            if time.perf_counter() > until or self._executor.failed:
                raise SystemExit("the task failed or is too slow")
            time.sleep(PACE)
        return count


if __name__ == "__main__":
    main()
