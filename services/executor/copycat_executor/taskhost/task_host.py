"""A host: obeys its executor's commands, and ends with it."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final

from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import ORPHANED_HOST_SECONDS, TargetState
from copycat_connect.failure_kind import FailureKind, kind_of
from copycat_connect.log_levels import level_named
from copycat_rpc.messages import config_from_proto, target_state_from_proto
from copycat_telemetry.logs import set_level

from copycat_executor.pipeline.records.trace import trace_text
from copycat_executor.pipeline.task.control import Ending, Settlement
from copycat_executor.pipeline.task.memory import LONGEST_INTERVAL_SECONDS, MemoryBound, memory_limit
from copycat_executor.pipeline.task.stages import Stage
from copycat_executor.taskhost.host_questions import FenceQuestions, OffsetQuestions
from copycat_executor.taskhost.host_surroundings import HostSurroundings
from copycat_executor.taskhost.progress_watch import ProgressWatch
from copycat_executor.taskhost.stream_link import StreamLink
from copycat_executor.taskhost.task_thread import TaskThread

_log = logging.getLogger(__name__)

_TASK_MEMORY_MAX: Final = "task.memory.max"


class _MemoryWatch:
    """Looks at the memory of this process from the first task on."""

    def __init__(self, tasks: Callable[[], list[TaskThread]], finish: Callable[[], None]) -> None:
        """`tasks` returns those that run; `finish` ends the host's stream, and so the host."""
        self._tasks = tasks
        self._finish = finish
        self._begun = False

    def begin(self, setting: str | None) -> None:
        """Watch from now on, by the worker's property; further calls do nothing."""
        if self._begun:
            return
        self._begun = True
        bound: MemoryBound[TaskThread] = MemoryBound(memory_limit(setting), _TASK_MEMORY_MAX, self._end)
        threading.Thread(target=self._watch, args=(bound,), name="memory-watch", daemon=True).start()

    def _watch(self, bound: MemoryBound[TaskThread]) -> None:
        while True:
            wait = LONGEST_INTERVAL_SECONDS
            try:
                wait = bound.look(self._tasks())
            except Exception:  # a look that fails must not be the last one
                _log.exception("the memory of this host cannot be looked at")
            time.sleep(wait)

    def _end(self, blamed: TaskThread | None, text: str) -> None:
        if blamed is not None:
            blamed.fail_now(Stage.MEMORY, text, FailureKind.RESOURCE)
        _log.error("this host ends: %s", text)
        self._finish()


TaskKey = tuple[str, int, int, int]

#: Once the executor is gone, tasks that take longer to end are abandoned: the process is ended soon after.
_EXECUTOR_LOSS_TIMEOUT_SECONDS: Final = 0.8 * ORPHANED_HOST_SECONDS


@dataclass(frozen=True, slots=True)
class HostSummary:
    """How a host's life ended."""

    host_id: str
    """The host."""
    reason: str
    """`shutdown`, or why the stream ended."""
    tasks: int = 0
    """Tasks it ran."""
    abandoned: tuple[str, ...] = ()
    """Tasks whose threads still hang: the process must not be used again."""

    def to_json(self) -> str:
        """Write the summary as compact JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))


class TaskHost:
    """The tasks of one host. Commands come from one thread."""

    def __init__(
        self,
        surroundings: HostSurroundings,
        send: Callable[[pb.AttachRequest], None],
        finish: Callable[[], None],
    ) -> None:
        """Prepare; `finish` ends the stream from this side."""
        self._surroundings = surroundings
        self._send = send
        self._finish = finish
        self._questions = OffsetQuestions(send)
        self._fences = FenceQuestions(send)
        self._memory = _MemoryWatch(self._all, finish)
        self._progress = ProgressWatch(self._all, surroundings.clock, self._give_up)
        self._lock = threading.Lock()
        self._tasks: dict[TaskKey, TaskThread] = {}
        self.started = 0
        self.abandoned: tuple[str, ...] = ()
        self.ended_by_command = False

    def obey(self, command: pb.AttachResponse) -> None:
        """Carry out one command; never blocks."""
        match command.WhichOneof("command"):
            case "start_task":
                self._start(command.start_task)
            case "stop_task":
                self._stop(command.stop_task)
            case "set_task_state":
                self._set_state(command.set_task_state)
            case "offsets_found" | "query_answered" | "fence_done":
                self._answer(command)
            case "committed":
                self._settle(command.committed)
            case "shutdown":
                self._shut_down(command.shutdown)
            case "set_level":
                _set_level(command.set_level)
            case unknown:
                _log.warning("The executor sent a command this host does not know: %s", unknown)

    def lose_executor(self) -> None:
        """End all tasks without a commit: nobody is there to take it, they will be repeated elsewhere."""
        self._questions.abandon()
        self._fences.abandon()
        self._surroundings.queries.abandon()
        tasks = self._all()
        for task in tasks:
            task.stop(Ending.DROP)
        until = self._surroundings.clock() + _EXECUTOR_LOSS_TIMEOUT_SECONDS
        hanging = [task for task in tasks if not task.join(until - self._surroundings.clock())]
        self._abandon(hanging, _EXECUTOR_LOSS_TIMEOUT_SECONDS)

    def _answer(self, command: pb.AttachResponse) -> None:
        if command.HasField("offsets_found"):
            self._questions.answer(command.offsets_found)
        elif command.HasField("fence_done"):
            self._fences.answer(command.fence_done)
        else:
            self._surroundings.queries.answer(command.query_answered)

    def _start(self, command: pb.StartTask) -> None:
        link = StreamLink(command.task, self._send, self._questions, self._fences)
        task = TaskThread(command, self._surroundings, link, self._forget)
        with self._lock:
            self._tasks[_key(command.task)] = task
            self.started += 1
        self._tell_connectors()
        self._send(pb.AttachRequest(taken=pb.TaskTaken(task=command.task)))
        try:
            worker = config_from_proto(command.worker_config)
            self._memory.begin(worker.get(_TASK_MEMORY_MAX))
            self._progress.begin(worker)
            task.start()
        except Exception as error:  # e.g. no more threads can be had; only its thread could have said so
            _log.exception("Task %s-%s could not be started", command.task.connector, command.task.task)
            task.fail_now(Stage.START, trace_text(error), kind_of(error, {}) or FailureKind.RESOURCE)
            self._forget(task)

    def _stop(self, command: pb.StopTask) -> None:
        task = self._tasks.get(_key(command.task))
        if task is None:
            # It ended before, by itself: the executor still waits for a word.
            changed = pb.TaskStateChanged(task=command.task, state=types_pb2.STATE_UNASSIGNED)
            self._send(pb.AttachRequest(state_changed=changed))
            return
        task.stop(Ending.DRAIN)
        self._watch([task], command.timeout_ms / 1000, then_finish=False)

    def _shut_down(self, command: pb.Shutdown) -> None:
        self.ended_by_command = True
        tasks = self._all()
        for task in tasks:
            task.stop(Ending.DRAIN)
        self._watch(tasks, command.timeout_ms / 1000, then_finish=True)

    def _watch(self, tasks: list[TaskThread], timeout: float, *, then_finish: bool) -> None:
        """Wait in another thread, since commits that tasks wait for come as commands."""

        def watch() -> None:
            until = self._surroundings.clock() + timeout
            hanging = [task for task in tasks if not task.join(until - self._surroundings.clock())]
            self._abandon(hanging, timeout)
            if then_finish or (self.abandoned and not self._tasks):
                self._finish()

        threading.Thread(target=watch, name="drain", daemon=True).start()

    def _abandon(self, hanging: list[TaskThread], timeout: float) -> None:
        for task in hanging:
            task_id = f"{task.ref.connector}-{task.ref.task}"
            message = f"Graceful stop of task {task_id} failed: it did not end within {timeout:g} s"
            self._give_up(task, Stage.STOP, message, FailureKind.BUG)

    def _give_up(self, task: TaskThread, stage: Stage, text: str, kind: FailureKind) -> None:
        """Let go of a task whose thread hangs: the executor moves the others, then ends this host."""
        _log.error("task %s-%s hangs, this host is left: %s", task.ref.connector, task.ref.task, text)
        task.fail_now(stage, text, kind, hangs=True)
        self._forget(task)
        self.abandoned = (*self.abandoned, f"{task.ref.connector}-{task.ref.task}")

    def _set_state(self, command: pb.SetTaskState) -> None:
        task = self._tasks.get(_key(command.task))
        if task is not None:
            task.set_paused(target_state_from_proto(command.target_state) is TargetState.PAUSED)

    def _settle(self, command: pb.Committed) -> None:
        task = self._tasks.get(_key(command.task))
        if task is not None:
            task.settle(Settlement(command.sequence, command.error, command.stale))

    def _forget(self, task: TaskThread) -> None:
        with self._lock:
            self._tasks.pop(_key(task.ref), None)
        self._tell_connectors()

    def _tell_connectors(self) -> None:
        self._surroundings.run_connectors(task.ref.connector for task in self._all())

    def _all(self) -> list[TaskThread]:
        with self._lock:
            return list(self._tasks.values())


def _set_level(command: pb.SetLevel) -> None:
    level = level_named(command.level)
    if level is None:
        _log.warning("There is no log level %s", command.level)
        return
    set_level(command.logger, level)


def _key(ref: pb.TaskRef) -> TaskKey:
    return ref.connector, ref.task, ref.generation, ref.start
