"""Contexts that stand for the engine and remember what a task asks for; and a watch over calls that meet."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import wraps

from copycat_connect.data import SinkRecord, TopicPartition
from copycat_connect.plugin import SinkTask, SourceTask
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

#: Calls of the engine into a task.
_CALLS = (
    "start", "poll", "commit", "commit_record", "stored_positions", "open", "put", "flush", "pre_commit",
    "close", "stop",
)  # fmt: skip
#: A call that one of them may make itself, as the base class does.
_OWN_CALLS = {("pre_commit", "flush")}


def watch_calls(task: SourceTask | SinkTask) -> list[str]:
    """Watch the engine's calls into a task, which must never meet.

    Returns:
        The calls that began during another, of another thread or of the same: it grows as they happen.
    """
    running: list[str] = []
    met: list[str] = []
    lock = threading.Lock()

    def watched(name: str, call: Callable[..., object]) -> Callable[..., object]:
        @wraps(call)
        def alone(*arguments: object) -> object:
            with lock:
                met.extend(f"{name} during {each}" for each in running if (each, name) not in _OWN_CALLS)
                running.append(name)
            try:
                return call(*arguments)
            finally:
                with lock:
                    running.remove(name)

        return alone

    for name in _CALLS:
        if hasattr(task, name):
            setattr(task, name, watched(name, getattr(task, name)))
    return met


class FakeConnectorContext:
    """Remembers what a connector reports to the engine."""

    def __init__(self) -> None:
        """Nothing was reported yet."""
        self.reconfigurations = 0
        self.errors: list[BaseException] = []
        self.failed = threading.Event()
        self.waits_for: str | None = None

    def request_task_reconfiguration(self) -> None:
        """Count how often the work is to be divided again."""
        self.reconfigurations += 1

    def raise_error(self, error: BaseException) -> None:
        """Keep the error."""
        self.errors.append(error)
        self.failed.set()

    def waiting(self, reason: str | None) -> None:
        """Remember what the connector waits for."""
        self.waits_for = reason


class FakeSourceContext:
    """Hands out offsets that a test has stored, and waits as the engine does."""

    transaction = None

    def __init__(self, config: Mapping[str, str], stopping: threading.Event | None = None) -> None:
        """Use the task's configuration and, to share it, the event that says it is being stopped."""
        self.stopping = stopping or threading.Event()
        self._config = dict(config)
        self._offsets: dict[str, str] = {}
        self.waits_for: str | None = None

    def waiting(self, reason: str | None) -> None:
        """Remember what the task waits for."""
        self.waits_for = reason

    def store(self, partition: SourcePartition | None, offset: SourceOffset | None) -> None:
        """Store an offset as the engine does, through JSON."""
        self._offsets[json.dumps(partition, sort_keys=True)] = json.dumps(offset)

    def configs(self) -> Mapping[str, str]:
        """Return the configuration the test gave the task."""
        return self._config

    def offset(self, partition: SourcePartition) -> SourceOffset | None:
        """Return the offset the test stored for a partition; None without one."""
        stored: SourceOffset | None = json.loads(
            self._offsets.get(json.dumps(partition, sort_keys=True), "null")
        )
        return stored

    def offsets(self, partitions: Sequence[SourcePartition]) -> list[SourceOffset | None]:
        """Return the stored offsets in the order of the partitions."""
        return [self.offset(partition) for partition in partitions]

    def wait(self, seconds: float) -> bool:
        """Wait until the test stops the task, at the longest this long."""
        return self.stopping.wait(seconds)


class FakeErrantReporter:
    """Takes the records a task reports."""

    def __init__(self) -> None:
        """Start with none."""
        self.reported: list[tuple[SinkRecord, Exception]] = []

    def report(self, record: SinkRecord, error: Exception) -> Future[None]:
        """Keep the record and its error for the test; the future is done at once."""
        self.reported.append((record, error))
        done: Future[None] = Future()
        done.set_result(None)
        return done


class FakeSinkContext:
    """Remembers seeks, pauses and commit requests."""

    group_id = "connect-conformance"
    transactional_id: str | None = None

    def __init__(self, config: Mapping[str, str], assignment: Iterable[TopicPartition] = ()) -> None:
        """Use the task's configuration and the partitions it reads."""
        self.assignment = frozenset(assignment)
        self.errant_record_reporter = FakeErrantReporter()
        self.stopping = threading.Event()
        self.seeks: dict[TopicPartition, int] = {}
        self.paused: set[TopicPartition] = set()
        self.commits_requested = 0
        self.timeout_millis: int | None = None
        self._config = dict(config)

    def configs(self) -> Mapping[str, str]:
        """Return the configuration the test gave the task."""
        return self._config

    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Remember where the task wants to continue."""
        self.seeks |= offsets

    def timeout(self, millis: int) -> None:
        """Remember how long the task wants to wait."""
        self.timeout_millis = millis

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Remember what the task does not want to read."""
        self.paused |= set(partitions)

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        """Remove partitions from those the task paused."""
        self.paused -= set(partitions)

    def request_commit(self) -> None:
        """Count the requests for an offset commit."""
        self.commits_requested += 1

    def wait(self, seconds: float) -> bool:
        """Wait until the test stops the task, at the longest this long."""
        return self.stopping.wait(seconds)
