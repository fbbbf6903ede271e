"""Measures the record path alone: file to topic and topic to file in a task host, without Spark and services.

    python -m tools.bench.record_path [--records N] [--bootstrap HOST:PORT] [case ...]

Without a bootstrap address an embedded Kafka is started. Prints records a second and CPU time a record.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from confluent_kafka import KafkaException
from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.plugin import load_plugins
from copycat_executor.taskhost.host_questions import HostQueries
from copycat_executor.taskhost.host_surroundings import Garbage, HostSurroundings
from copycat_executor.taskhost.task_host import TaskHost
from copycat_rpc.messages import config_to_proto

from tools.bench.record_rows import (
    FILE_TO_TOPIC_JSON_2SMT,
    JSON_PLAIN,
    JSON_SCHEMAS,
    TOPIC_TO_FILE_JSON_4SMT,
)
from tools.bench.systems import STRING, shipped_kafka
from tools.bench.topics import Topics, in_envelopes, write_lines

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
        bench = _Bench(bootstrap, Path(folder), source, arguments.records)
        for case in arguments.cases:
            print(bench.run(case, CASES[case]), flush=True)


@contextmanager
def _kafka(bootstrap: str | None, folder: Path) -> Iterator[str]:
    if bootstrap is not None:
        yield bootstrap
        return
    with shipped_kafka(folder / "kafka") as broker:
        yield broker.bootstrap


@dataclass
class _InProcessExecutor:
    """A task host in this process, and its executor: answers what it asks and remembers what it said."""

    worker: Mapping[str, str]
    states: list[pb.TaskStateChanged] = field(default_factory=list)
    acknowledged: list[pb.Acknowledged] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)
    host: TaskHost = field(init=False)

    def __post_init__(self) -> None:
        """Make the host."""
        garbage = Garbage(time.monotonic)
        surroundings = HostSurroundings(
            plugins=load_plugins(),
            environment=dict(os.environ),
            clock=time.monotonic,
            random=random.random,
            queries=HostQueries(self.hear),
            garbage=garbage,
        )
        self.host = TaskHost(surroundings, self.hear, lambda: None)
        garbage.replace_automatic()

    def hear(self, event: pb.AttachRequest) -> None:
        """Handle an event and answer it as the executor would."""
        match event.WhichOneof("event"):
            case "state_changed":
                self.states.append(event.state_changed)
                if event.state_changed.trace:
                    sys.stderr.write(event.state_changed.trace)
            case "acknowledged":
                self.acknowledged.append(event.acknowledged)
                answer = pb.Committed(task=event.acknowledged.task, sequence=event.acknowledged.sequence)
                self.host.obey(pb.AttachResponse(committed=answer))
            case "offsets_wanted":
                wanted = event.offsets_wanted
                found = [types_pb2.SourceOffset(partition=each) for each in wanted.partitions]
                answer_found = pb.OffsetsFound(sequence=wanted.sequence, offsets=found)
                self.host.obey(pb.AttachResponse(offsets_found=answer_found))
        with self.changed:
            self.changed.notify_all()

    def start(self, config: Mapping[str, str], topic: str | None = None) -> pb.TaskRef:
        """Start the only task of a connector."""
        ref = pb.TaskRef(connector=config["name"], task=0, generation=1, start=1)
        partitions = [] if topic is None else [types_pb2.TopicPartitionOffset(topic=topic, offset=-1)]
        command = pb.StartTask(
            task=ref,
            worker_config=config_to_proto(self.worker),
            connector_config=config_to_proto(config),
            task_config=config_to_proto(config),
            target_state=types_pb2.TARGET_STATE_STARTED,
            partitions=partitions,
        )
        self.host.obey(pb.AttachResponse(start_task=command))
        return ref

    def stop(self, ref: pb.TaskRef) -> None:
        """Drain a task and wait for its end."""
        self.host.obey(pb.AttachResponse(stop_task=pb.StopTask(task=ref, timeout_ms=20000)))
        self.wait_for(lambda: self.states[-1].state == types_pb2.STATE_UNASSIGNED)

    def wait_for(self, condition: Callable[[], bool], timeout: float = 120) -> None:
        """Wait for an event that makes the condition true."""
        with self.changed:
            if not self.changed.wait_for(lambda: condition() or self.failed, timeout) or self.failed:
                raise SystemExit("the task failed or did not get there")

    @property
    def failed(self) -> bool:
        """True when the last task failed."""
        return bool(self.states) and self.states[-1].state == types_pb2.STATE_FAILED


class _LineCounter:
    """Counts the lines of a file that grows."""

    def __init__(self, lines: BinaryIO) -> None:
        self._lines = lines
        self._count = 0

    def __call__(self) -> int:
        self._count += self._lines.read().count(b"\n")
        return self._count


class _Bench:
    """Runs cases on one broker."""

    def __init__(self, bootstrap: str, folder: Path, source: Path, count: int) -> None:
        self._topics = Topics(bootstrap)
        self._folder = folder
        self._source = source
        self._count = count
        self._filled = ""
        self._made: set[str] = set()
        converters = {f"{name}.converter": STRING for name in ("key", "value", "header")}
        self._executor = _InProcessExecutor({"bootstrap.servers": bootstrap, **converters})

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
            rate = self._rate(_LineCounter(lines))
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
