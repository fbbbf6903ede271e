"""Reports of one task over the control stream."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from copycat.host.v1 import host_service_pb2 as pb
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TopicPartition
from copycat_connect.failure_kind import FailureKind
from copycat_rpc.messages import source_offsets_to_proto

from copycat_executor.pipeline.task.measures import Measure
from copycat_executor.pipeline.task.task_link import ReportedState
from copycat_executor.taskhost.host_questions import FenceQuestions, OffsetQuestions

_STATES: Final = {
    ReportedState.RUNNING: types_pb2.STATE_RUNNING,
    ReportedState.PAUSED: types_pb2.STATE_PAUSED,
    ReportedState.FAILED: types_pb2.STATE_FAILED,
    ReportedState.UNASSIGNED: types_pb2.STATE_UNASSIGNED,
}


class StreamLink:
    """A task's end of the stream (`TaskLink`); after `cut` it is silent, whatever a thread still says."""

    def __init__(
        self,
        ref: pb.TaskRef,
        send: Callable[[pb.AttachRequest], None],
        questions: OffsetQuestions,
        fences: FenceQuestions,
    ) -> None:
        self._ref = ref
        self._send_event = send
        self._questions = questions
        self._fences = fences
        self._lock = threading.Lock()
        self._cut = False
        self._trouble: status_pb.Trouble | None = None
        self.version: str | None = None

    def state(self, state: ReportedState) -> None:
        """Report the state the task is in from now on."""
        self._state(pb.TaskStateChanged(task=self._ref, state=_STATES[state], version=self.version))

    def failed(
        self, stage: str, trace: str, kind: FailureKind, *, hangs: bool = False, tolerable: bool = False
    ) -> None:
        """Report that the task failed, at which stage and with which trace, and what that means.

        `hangs` says that its thread has not ended, and may never; `tolerable` that `errors.tolerance` has a
        say at that stage.
        """
        self._state(
            pb.TaskStateChanged(
                task=self._ref,
                state=types_pb2.STATE_FAILED,
                trace=trace,
                stage=stage,
                version=self.version,
                failure_kind=kind.value,
                hangs=hangs,
                tolerable=tolerable,
            )
        )

    def trouble(self, trouble: status_pb.Trouble | None) -> None:
        """Report what keeps the task from moving, if that is new; None says that nothing does."""
        if trouble != self._trouble:
            self._trouble = trouble
            self._send(pb.AttachRequest(trouble=pb.TaskTrouble(task=self._ref, trouble=trouble)))

    def cut(self) -> None:
        """Report nothing from now on: the host gave the task up."""
        with self._lock:
            self._cut = True

    def acknowledge_source(
        self,
        sequence: int,
        offsets: Mapping[bytes, bytes | None],
        expected: Mapping[bytes, bytes | None] | None = None,
    ) -> None:
        """Report source offsets whose records are durable (I1)."""
        acknowledged = pb.Acknowledged(
            task=self._ref,
            sequence=sequence,
            source_offsets=source_offsets_to_proto(offsets.items()),
            expected=source_offsets_to_proto((expected or {}).items()),
        )
        self._send(pb.AttachRequest(acknowledged=acknowledged))

    def acknowledge_sink(self, sequence: int, offsets: Mapping[TopicPartition, int]) -> None:
        """Report sink positions that were flushed (I1)."""
        chosen = [
            types_pb2.TopicPartitionOffset(topic=each.topic, partition=each.partition, offset=offset)
            for each, offset in offsets.items()
        ]
        acknowledged = pb.Acknowledged(task=self._ref, sequence=sequence, sink_offsets=chosen)
        self._send(pb.AttachRequest(acknowledged=acknowledged))

    def topics_seen(self, topics: Sequence[str]) -> None:
        """Report topics met for the first time."""
        self._send(pb.AttachRequest(topics_seen=pb.TopicsSeen(task=self._ref, topics=topics)))

    def source_offsets(self, partitions: Sequence[bytes]) -> list[bytes | None]:
        """Ask for committed source offsets; blocks."""
        return self._questions.ask(self._ref, partitions)

    def await_fence(self) -> None:
        """Ask that all earlier tasks of the connector are fenced; blocks."""
        self._fences.ask(self._ref)

    def plugins(self, plugins: Sequence[pb.PluginInUse]) -> None:
        """Report what the task is made of."""
        self._send(pb.AttachRequest(plugins=pb.PluginsInUse(task=self._ref, plugins=plugins)))

    def measured(self, measures: Mapping[str, Measure]) -> None:
        """Report what was measured since the last such report."""
        if not measures:
            return
        found = [
            pb.Measure(
                name=name,
                count=each.count,
                total=each.total,
                highest=each.highest,
                lowest=each.lowest,
                last=each.last,
            )
            for name, each in measures.items()
        ]
        self._send(pb.AttachRequest(metrics=pb.TaskMetrics(task=self._ref, measures=found)))

    def _state(self, changed: pb.TaskStateChanged) -> None:
        self._send(pb.AttachRequest(state_changed=changed))

    def _send(self, event: pb.AttachRequest) -> None:
        with self._lock:
            if not self._cut:
                self._send_event(event)
