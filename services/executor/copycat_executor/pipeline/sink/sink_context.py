"""What a sink task may ask of the engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import ConnectError
from copycat_connect.plugin.contexts import ErrantRecordReporter

from copycat_executor.pipeline.sink.sink_parts import SinkParts


class RunningSinkContext:
    """The context of a running sink task (`SinkTaskContext`); requests are met between puts."""

    def __init__(self, parts: SinkParts) -> None:
        self._parts = parts
        self._receiver = parts.receiver
        self._assignment: frozenset[TopicPartition] = frozenset()
        self._paused: frozenset[TopicPartition] = frozenset()
        self._rewinds: dict[TopicPartition, int] = {}
        self._timeout: float | None = None
        self._commit_requested = False
        self.suspended = False

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions the task reads now."""
        return self._assignment

    @property
    def errant_record_reporter(self) -> ErrantRecordReporter | None:
        """Takes records that the task cannot write (KIP-610); None when nothing would become of them."""
        return self._parts.errant

    @property
    def group_id(self) -> str:
        """The consumer group that holds the positions."""
        return self._parts.group_id

    @property
    def transactional_id(self) -> str | None:
        """The task's own transactional id; None unless it delivers exactly once."""
        return self._parts.transactional_id

    def configs(self) -> Mapping[str, str]:
        """Return the task's configuration, placeholders resolved."""
        return self._parts.config

    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Continue reading at these offsets."""
        self._rewinds |= offsets

    def timeout(self, millis: int) -> None:
        """Wait no longer than this before the next put."""
        self._timeout = millis / 1000

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Read no more from these partitions."""
        chosen = self._owned(partitions, "pause")
        self._paused |= chosen
        self._receiver.pause(chosen)

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        """Read from these partitions again."""
        chosen = self._owned(partitions, "resume")
        self._paused -= chosen
        if not self.suspended:
            self._receiver.resume(chosen)

    def request_commit(self) -> None:
        """Ask for an offset commit soon."""
        self._commit_requested = True

    def wait(self, seconds: float) -> bool:
        """Wait, but no longer than until the task is being stopped."""
        return self._parts.calls.rest(self._parts.control.wait, seconds)

    def assigned(self, partitions: Iterable[TopicPartition]) -> None:
        """Take note of the assignment (engine only)."""
        self._assignment = frozenset(partitions)

    def suspend(self, suspended: bool) -> None:
        """Pause all partitions, or resume those the task did not pause itself (engine only)."""
        self.suspended = suspended
        if suspended:
            self._receiver.pause(self._assignment)
        else:
            self._receiver.resume(self._assignment - self._paused)

    def take_rewinds(self) -> dict[TopicPartition, int]:
        """Return requested positions (engine only)."""
        taken, self._rewinds = self._rewinds, {}
        return taken

    def take_timeout(self) -> float | None:
        """Return the requested wait in seconds (engine only)."""
        taken, self._timeout = self._timeout, None
        return taken

    def take_commit_request(self) -> bool:
        """Return whether a commit was requested (engine only)."""
        taken, self._commit_requested = self._commit_requested, False
        return taken

    def _owned(self, partitions: Iterable[TopicPartition], verb: str) -> frozenset[TopicPartition]:
        chosen = frozenset(partitions)
        if not chosen <= self._assignment:
            message = f"SinkTasks may not {verb} partitions that are not currently assigned to them."
            raise ConnectError(message)
        return chosen
