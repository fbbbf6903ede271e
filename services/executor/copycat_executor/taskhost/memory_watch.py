"""Bounds the memory of a host: the task that takes it fails, and the host ends if that does not help."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from copycat_connect.failure_kind import FailureKind

from copycat_executor.pipeline.task.memory import memory_limit
from copycat_executor.pipeline.task.memory_bound import LONGEST_INTERVAL_SECONDS, MemoryBound
from copycat_executor.pipeline.task.stages import Stage
from copycat_executor.taskhost.task_thread import TaskThread

_log = logging.getLogger(__name__)

TASK_MEMORY_MAX: Final = "task.memory.max"


class MemoryWatch:
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
        bound: MemoryBound[TaskThread] = MemoryBound(memory_limit(setting), TASK_MEMORY_MAX, self._end)
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
