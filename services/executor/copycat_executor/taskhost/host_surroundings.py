"""What all tasks of a host share, and how its garbage is collected.

Collections between records cost more than the records. What lives as long as the process is frozen, and
garbage is collected where a task pauses anyway, after an offset commit.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from copycat_connect.plugin import Plugins, PluginSpec

from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.task_frame import TaskFrame
from copycat_executor.pipeline.task.task_link import TaskLink
from copycat_executor.taskhost.host_questions import HostQueries
from copycat_executor.taskhost.order import TaskOrder


class SourceRun(Protocol):
    """Makes everything a source task needs."""

    def __call__(
        self,
        order: TaskOrder,
        spec: PluginSpec,
        surroundings: HostSurroundings,
        control: TaskControl,
        link: TaskLink,
        *,
        calls: CallLog,
    ) -> TaskFrame:
        """Make it; connects to Kafka in the background.

        Raises:
            CopycatError: The configuration does not work.
        """


@dataclass(frozen=True, slots=True)
class HostSurroundings:
    """The host's clock, random numbers, plugins, query engine and garbage collection."""

    plugins: Plugins
    """The installed plugins."""
    environment: Mapping[str, str]
    """The environment variables, for placeholders."""
    clock: Callable[[], float]
    """Seconds that never run backwards."""
    random: Callable[[], float]
    """Numbers from 0 to 1."""
    queries: HostQueries
    """Runs queries in Spark; with it, this is the context of transformations."""
    garbage: Garbage
    """Collects for all tasks."""
    spark_run: SourceRun | None = None
    """Makes the run of a task whose records Spark reads; missing where there is no Spark session."""
    run_connectors: Callable[[Iterable[str]], None] = lambda _: None
    """Called with the connectors that have tasks here, for output of which only the process is known."""


#: Between two collections.
_MIN_INTERVAL_SECONDS: Final = 1.0
#: Objects that came and did not go since the last collection, below which none is due: as many as let the
#: automatic collector be. It counts them also while it is switched off.
_WORTH_COLLECTING: Final = 700


class Garbage:
    """Collects for all tasks of a host, but not more often than makes sense."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = clock()

    def replace_automatic(self) -> None:
        """Take over from the automatic collector; undone by `restore_automatic`."""
        gc.collect()
        gc.freeze()
        gc.disable()

    def collect(self) -> None:
        """Collect now, unless there is little, it was done a moment ago, or another task does it."""
        if gc.get_count()[0] < _WORTH_COLLECTING or self._clock() - self._last < _MIN_INTERVAL_SECONDS:
            return
        if not self._lock.acquire(blocking=False):
            return
        try:
            gc.collect()
            self._last = self._clock()
        finally:
            self._lock.release()

    def restore_automatic(self) -> None:
        """Give the work back to the automatic collector."""
        gc.unfreeze()
        gc.enable()
