"""Notices tasks that have work and do not move: a call that does not return, or fails again and again.

A task that waits through its context, or returns from `poll` with nothing, moves: it has nothing to do. What
is found is reported. Much later a call is given up; `poll`, which may wait for data, has a bound of its own.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Final

from copycat.status.v1 import status_service_pb2 as status_pb
from copycat_connect.cluster import Config
from copycat_connect.config import ConfigDef
from copycat_connect.config.framework_names import TASK_POLL_TIMEOUT
from copycat_connect.config.worker_keys import TASK_CALL_TIMEOUT, TASK_PROGRESS_TIMEOUT
from copycat_connect.error_text import trace_line, writable
from copycat_connect.failure_kind import FailureKind

from copycat_executor.pipeline.records.trace import trace_text
from copycat_executor.pipeline.task.call_log import CallLog, FailedTries, RunningCall
from copycat_executor.pipeline.task.stages import Stage
from copycat_executor.taskhost.task_thread import TaskThread

_log = logging.getLogger(__name__)

_LOOK_INTERVAL_SECONDS: Final = 1.0
#: A call that fails once and then works is no trouble, nor is what is there a moment later.
_NOTICED_AFTER_SECONDS: Final = 1.0
#: A poll is let wait for so many times the longest one of this run that came back.
_PATIENCE_WITH_POLLS: Final = 3.0
_OURS: Final = "copycat_executor"
#: Calls of ours that hand records to Kafka.
_TO_KAFKA: Final = frozenset({"deliver", "commit offsets"})
#: The calls into author's code that are given up, and where a task fails by that.
_GIVEN_UP: Final[Mapping[str, Stage]] = {
    "start": Stage.START,
    "poll": Stage.TASK_POLL,
    "open": Stage.START,
    "put": Stage.TASK_PUT,
    "pre_commit": Stage.FLUSH,
    "commit": Stage.FLUSH,
}


class ProgressWatch:
    """Looks at the tasks of this host each second, from the first one on."""

    def __init__(
        self,
        tasks: Callable[[], list[TaskThread]],
        clock: Callable[[], float],
        give_up: Callable[[TaskThread, Stage, str, FailureKind], None],
    ) -> None:
        """`tasks` returns those that run, `clock` is theirs, `give_up` lets go of one that hangs."""
        self._tasks = tasks
        self._give_up = give_up
        self._epoch = time.time() - clock()
        self._begun = False

    def begin(self, worker: Config) -> None:
        """Watch a task that begins, by the worker's properties."""
        if not self._begun:
            self._begun = True
            found = ConfigDef(TASK_PROGRESS_TIMEOUT, TASK_CALL_TIMEOUT).parse(worker)
            bounds = (found[key.name] / 1000 for key in (TASK_PROGRESS_TIMEOUT, TASK_CALL_TIMEOUT))
            threading.Thread(target=self._watch, args=(*bounds,), name="progress-watch", daemon=True).start()

    def _watch(self, patience: float, limit: float) -> None:
        while True:
            time.sleep(_LOOK_INTERVAL_SECONDS)
            for task in self._tasks():
                try:
                    self._look_at(task, patience, limit)
                except Exception:  # one task that cannot be looked at must not end the watch of all others
                    _log.exception("task %s-%s cannot be looked at", task.ref.connector, task.ref.task)

    def _look_at(self, task: TaskThread, patience: float, limit: float) -> None:
        task.look_whether_it_lives()
        task.tell_trouble(lambda calls, thread: trouble_of(calls, thread, patience, self._epoch))
        overdue = overdue_call(task.calls, limit, task.poll_timeout)
        if overdue is None:
            return
        call, bound = overdue
        key = TASK_POLL_TIMEOUT if call == "poll" else TASK_CALL_TIMEOUT.name
        text = f"{call} has not returned within {bound:g} s ({key}): {_place(task.thread_id)}"
        self._give_up(task, _GIVEN_UP[call], text, FailureKind.TRANSIENT)


def overdue_call(calls: CallLog, limit: float, poll_limit: float) -> tuple[str, float] | None:
    """Return the call into author's code that takes too long, and for how many seconds it might.

    Args:
        calls: Those of a task.
        limit: How long one may take, seconds; 0 for ever.
        poll_limit: The same of a poll, which has longer where one that took longer has come back.
    """
    opened = calls.open
    if opened is None or opened.name not in _GIVEN_UP:
        return None
    allowed = poll_limit if opened.name == "poll" else limit
    bound = _bound(opened, calls, allowed)
    return (opened.name, bound) if allowed and calls.clock() - opened.began > bound else None


def trouble_of(calls: CallLog, thread: int | None, patience: float, epoch: float) -> status_pb.Trouble | None:
    """Return what keeps a task from moving; None when nothing does.

    Args:
        calls: Its calls.
        thread: The thread in which it runs.
        patience: How long a call may take, seconds; 0 for ever.
        epoch: What the time of day was when the clock of the calls stood at 0, seconds.
    """
    opened, tried, now = calls.open, calls.tried(), calls.clock()
    if opened is not None and patience and now - opened.began > _bound(opened, calls, patience):
        obstacle = calls.obstacle() if opened.name in _TO_KAFKA else ""
        if obstacle:  # where in our code it waits says nothing to anybody
            began_ms = int((epoch + opened.began) * 1000)
            return status_pb.Trouble(kind=status_pb.TROUBLE_KIND_WAITS, since_ms=began_ms, text=obstacle)
        return _trouble(status_pb.TROUBLE_KIND_HANGS, opened, epoch, text=_place(thread))
    if tried is not None and now - tried.began >= _NOTICED_AFTER_SECONDS:
        text = _error_line(tried)
        return _trouble(status_pb.TROUBLE_KIND_RETRIES, tried, epoch, text=text, tries=tried.tries)
    waits = calls.waits
    if waits is not None and now - waits.began >= _NOTICED_AFTER_SECONDS:
        began_ms = int((epoch + waits.began) * 1000)
        return status_pb.Trouble(kind=status_pb.TROUBLE_KIND_WAITS, since_ms=began_ms, text=waits.reason)
    return None


def _bound(opened: RunningCall, calls: CallLog, patience: float) -> float:
    if opened.name != "poll":
        return patience
    return max(patience, _PATIENCE_WITH_POLLS * calls.longest_poll)


def _trouble(
    kind: status_pb.TroubleKind.ValueType,
    call: RunningCall | FailedTries,
    epoch: float,
    *,
    text: str,
    tries: int = 0,
) -> status_pb.Trouble:
    began_ms = int((epoch + call.began) * 1000)
    return status_pb.Trouble(kind=kind, call=call.name, since_ms=began_ms, tries=tries, text=writable(text))


def _error_line(tried: FailedTries) -> str:
    return tried.error if isinstance(tried.error, str) else trace_line(trace_text(tried.error))


def _place(thread: int | None) -> str:
    """Say where a thread is, and which line of the author's led there; file names only."""
    innermost = sys._current_frames().get(thread or 0)  # noqa: SLF001 - the documented way
    if innermost is None:
        return "its thread has ended"
    author: FrameType | None = None
    frame: FrameType | None = innermost
    while frame is not None and _OURS not in frame.f_code.co_filename:
        author, frame = frame, frame.f_back
    if author is None or author is innermost:
        return f"at {_line(innermost)}"
    return f"at {_line(innermost)}, called at {_line(author)}"


def _line(frame: FrameType) -> str:
    code = frame.f_code
    return f"{code.co_name} ({Path(code.co_filename).name}:{frame.f_lineno})"
