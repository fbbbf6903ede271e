"""One task in a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from copycat.host.v1 import host_service_pb2 as pb
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat_connect.config import framework_names as names
from copycat_connect.config.definition import missing_text
from copycat_connect.config.framework_common import CONNECTOR
from copycat_connect.config.healing import poll_timeout
from copycat_connect.config.secrets import Secrets
from copycat_connect.error_text import bounded, writable
from copycat_connect.errors import ConfigError, ConnectError
from copycat_connect.failure_kind import FailureKind
from copycat_connect.plugin import PluginKind, Plugins, PluginSpec
from copycat_telemetry.context import about
from copycat_telemetry.tracing import Attributes, continuing

from copycat_executor.pipeline.records.trace import trace_text
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import Ending, Settlement, TaskControl
from copycat_executor.pipeline.task.failures import failure_of, is_tolerable, log_failure
from copycat_executor.pipeline.task.memory import processor_seconds, raise_in_thread
from copycat_executor.pipeline.task.stages import Stage, StaleTaskError, TaskFailedError
from copycat_executor.pipeline.task.task_frame import TaskFrame
from copycat_executor.pipeline.task.task_link import ReportedState, TaskLink
from copycat_executor.taskhost.assemble_sink import sink_run
from copycat_executor.taskhost.assemble_source import source_run
from copycat_executor.taskhost.compose import find_converter, required
from copycat_executor.taskhost.host_surroundings import HostSurroundings, SourceRun
from copycat_executor.taskhost.order import TaskOrder, starts_paused
from copycat_executor.taskhost.spec import thread_tag
from copycat_executor.taskhost.stream_link import StreamLink

_CONVERTERS: Final = (names.KEY_CONVERTER, names.VALUE_CONVERTER, names.HEADER_CONVERTER)


def _plugins_in_use(
    order: TaskOrder, spec: PluginSpec, surroundings: HostSurroundings
) -> list[pb.PluginInUse]:
    """Name the plugins of a task that was put together."""
    task = replace(spec, class_name=spec.task_class_name)
    return [
        _plugin("connector", spec, type=spec.kind.value),
        _plugin("task", task),
        *_converters(order, surroundings.plugins),
        *_chain(order, surroundings.plugins),
    ]


def _converters(order: TaskOrder, plugins: Plugins) -> Iterator[pb.PluginInUse]:
    for name in _CONVERTERS:
        _, spec = find_converter(name, order.worker_config, order.connector_config, plugins)
        yield _plugin(name.replace(".", "-"), spec)


def _chain(order: TaskOrder, plugins: Plugins) -> Iterator[pb.PluginInUse]:
    config = order.connector_config
    steps = CONNECTOR.parse(config)[names.TRANSFORMS]
    conditions = (str(config.get(f"{names.TRANSFORMS}.{alias}.predicate") or "").strip() for alias in steps)
    for role, key, kind, aliases in (
        ("transform", names.TRANSFORMS, PluginKind.TRANSFORMATION, steps),
        ("predicate", names.PREDICATES, PluginKind.PREDICATE, filter(None, dict.fromkeys(conditions))),
    ):
        for alias in aliases:
            spec = plugins.find(required(config, f"{key}.{alias}.type"), (kind,))
            yield _plugin(role, spec, alias=alias)


def _plugin(role: str, spec: PluginSpec, *, alias: str = "", type: str = "") -> pb.PluginInUse:
    return pb.PluginInUse(role=role, alias=alias, class_name=spec.class_name, version=spec.version, type=type)


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Assembled:
    """A task ready to run, and what it is made of."""

    run: TaskFrame
    """Its run, not yet begun."""
    version: str
    """Version of its plugin."""
    plugins: Sequence[pb.PluginInUse]
    """What it is made of."""
    failures: Mapping[type[BaseException], FailureKind]
    """What its plugin says of exceptions."""


def _find_connector(order: TaskOrder, surroundings: HostSurroundings) -> PluginSpec:
    """Find the plugin of a task's connector.

    Raises:
        ConfigError: It is not named or not installed.
    """
    name = order.connector_config.get(names.CONNECTOR_CLASS)
    if not name:
        raise ConfigError(missing_text(names.CONNECTOR_CLASS), key=names.CONNECTOR_CLASS)
    return surroundings.plugins.find_connector(name.strip())


def _maker(spec: PluginSpec, surroundings: HostSurroundings) -> SourceRun:
    """Return what makes the run of a task.

    Raises:
        ConnectError: Spark is to move its records, and is not here.
    """
    if not spec.on_spark:
        return source_run if spec.kind is PluginKind.SOURCE else sink_run
    if surroundings.spark_run is None:
        raise ConnectError(f"Spark moves the records of {spec.class_name}, in a driver, which this is not")
    return surroundings.spark_run


def _assemble(
    order: TaskOrder, surroundings: HostSurroundings, control: TaskControl, link: TaskLink, *, calls: CallLog
) -> _Assembled:
    """Make everything a task needs; connects to Kafka in the background.

    Raises:
        CopycatError: The configuration does not work.
    """
    spec = _find_connector(order, surroundings)
    run = _maker(spec, surroundings)(order, spec, surroundings, control, link, calls=calls)
    return _Assembled(run, spec.version, _plugins_in_use(order, spec, surroundings), spec.failures)


class TaskThread:
    """Runs a task from its start to its end, and reports both."""

    def __init__(
        self,
        command: pb.StartTask,
        surroundings: HostSurroundings,
        link: StreamLink,
        ended: Callable[[TaskThread], None],
    ) -> None:
        """Prepare; `ended` is called by the thread as its last act."""
        self.ref = command.task
        self._command = command
        self._surroundings = surroundings
        self._link = link
        self._ended = ended
        self.calls = CallLog(surroundings.clock)
        """The calls into its code."""
        self.poll_timeout = 0.0
        """For how many seconds its poll may not return; 0 for ever."""
        self._control = TaskControl(paused=starts_paused(command))
        self._frame: TaskFrame | None = None
        self._secrets = Secrets()
        self._declared: Mapping[type[BaseException], FailureKind] = {}
        self._told = False
        self._begun = False  # which its thread says itself: it has its number before it counts as alive
        name = f"task-{command.task.connector}-{command.task.task}"
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread; it assembles the task and runs it."""
        self._thread.start()

    def stop(self, ending: Ending) -> None:
        """Ask the task to end."""
        self._control.stop(ending)

    def set_paused(self, paused: bool) -> None:
        """Pause or resume the task."""
        self._control.set_paused(paused)

    def settle(self, settlement: Settlement) -> None:
        """Hand over the fate of an acknowledgement."""
        self._control.settle(settlement)

    def join(self, seconds: float) -> bool:
        """Wait for the end; False when the time was not enough."""
        self._thread.join(max(0.0, seconds))
        return not self._thread.is_alive()

    def processor_seconds(self) -> float:
        """Return how much processor time it has used."""
        return processor_seconds(self._thread)

    @property
    def thread_id(self) -> int | None:
        """The thread it runs in; None before it has begun."""
        return self._thread.ident

    def interrupt(self, error: type[BaseException]) -> None:
        """Raise an error in its code, once that is Python code again."""
        if self._thread.is_alive() and self._thread.ident is not None:
            raise_in_thread(self._thread.ident, error)

    def tell_trouble(self, find: Callable[[CallLog, int | None], status_pb.Trouble | None]) -> None:
        """Report what keeps it from moving, or that nothing does any more; says nothing twice."""
        trouble = find(self.calls, self.thread_id)
        if trouble is not None:
            trouble.text = bounded(self._secrets.scrub(trouble.text))
        self._link.trouble(trouble)

    def fail_now(self, stage: Stage, text: str, kind: FailureKind, *, hangs: bool = False) -> None:
        """Report that it failed, whatever its code does, and nothing from now on.

        `hangs` says that its code is not waited for: it writes nothing more.
        """
        self._control.stop(Ending.DROP)
        if hangs and self._frame is not None:
            self._frame.cancel()
        self._failed(stage, text, kind, hangs=hangs)
        self._link.cut()

    def look_whether_it_lives(self) -> None:
        """Report that it failed if its thread has ended without a word; called by another thread."""
        if not self._begun or self._thread.is_alive():
            return
        if not self._told:
            _log.error("The thread of task %s-%s has ended without a word", self.ref.connector, self.ref.task)
            self.fail_now(
                Stage.START, "The thread of the task has ended, and did not say why", FailureKind.BUG
            )
        self._ended(self)

    def _main(self) -> None:
        self._begun = True
        with suppress(OSError):  # the executor then knows less of who holds the interpreter
            Path("/proc/thread-self/comm").write_text(thread_tag(self.ref.start))
        with about(connector=self.ref.connector, task=str(self.ref.task)):
            failed = self._failure_of_its_run()
            if failed is None:
                self._link.state(ReportedState.UNASSIGNED)
            else:
                self._report(*failed)
            self._told = True
            self._frame = None
            self._surroundings.garbage.collect()
            self._ended(self)

    def _failure_of_its_run(self) -> tuple[Stage, BaseException] | None:
        """Run it; returns where it failed and why, or nothing when it has ended as it should."""
        try:
            self._run()
        except StaleTaskError:
            return None
        except TaskFailedError as failure:
            return failure.stage, failure.__cause__ or failure
        except BaseException as error:  # whatever ends the thread is reported
            return Stage.START, error
        return None

    def _run(self) -> None:
        order = TaskOrder.of(self._command, self._surroundings.environment)
        self._secrets = order.secrets
        self.poll_timeout = poll_timeout(order.connector_config, order.worker_config)
        with self._traced("assemble task"):
            assembled = _assemble(order, self._surroundings, self._control, self._link, calls=self.calls)
        self._link.version = writable(assembled.version)
        self._declared = assembled.failures
        self._link.plugins(assembled.plugins)
        self._frame = assembled.run
        assembled.run.run(self._traced("start task in its host"))

    def _traced(self, what: str) -> AbstractContextManager[None]:
        attributes: Attributes = {"copycat.connector": self.ref.connector, "copycat.task": self.ref.task}
        return continuing(self._command.traceparent, what, attributes)

    def _report(self, stage: Stage, error: BaseException) -> None:
        # First the report: to log an error may fail by what its author made of it.
        kind, tolerable = failure_of(error, self._declared, stage), is_tolerable(error, stage)
        self._failed(stage, trace_text(error), kind, tolerable=tolerable)
        log_failure(_log, f"The task failed at {stage.status_name}", error)

    def _failed(
        self, stage: Stage, text: str, kind: FailureKind, *, hangs: bool = False, tolerable: bool = False
    ) -> None:
        shown = bounded(self._secrets.scrub(writable(text)))
        self._link.failed(stage.status_name, shown, kind, hangs=hangs, tolerable=tolerable)
