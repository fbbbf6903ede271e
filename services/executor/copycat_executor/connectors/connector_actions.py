"""Connectors: started, paused, stopped; their author code runs in the process of the connectors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from typing import Any

from copycat_connect.cluster import TargetState
from copycat_connect.errors import CopycatError
from copycat_connect.failure_kind import FailureKind, kind_of
from copycat_telemetry.context import about
from copycat_telemetry.recent_spans import RecentSpans

from copycat_executor.background import BackgroundJobs
from copycat_executor.children.open_calls import PluginError
from copycat_executor.connectors.connector_calls import ConnectorCalls
from copycat_executor.connectors.connector_lifecycle import ConnectorLifecycle
from copycat_executor.connectors.publishing import Publishing
from copycat_executor.domain.desired import WantedConnector
from copycat_executor.domain.errors import PluginHangsError, PluginProcessGoneError
from copycat_executor.domain.running import Phase
from copycat_executor.outbox import status_outbox
from copycat_executor.pipeline.records.trace import trace_text
from copycat_executor.state.runs import ConnectorStart, Runs

log = logging.getLogger(__name__)

STATE_OF_TARGET = {
    TargetState.STARTED: status_outbox.RUNNING,
    TargetState.PAUSED: status_outbox.PAUSED,
    TargetState.STOPPED: status_outbox.STOPPED,
}
#: What passes as it does for tasks: a call that was given up, a process that ended.
_KINDS: Mapping[type[CopycatError], FailureKind] = {
    PluginHangsError: FailureKind.TRANSIENT,
    PluginProcessGoneError: FailureKind.RESOURCE,
}


class ConnectorActions:
    """Carries out what is to be done about connectors; each action returns at once."""

    def __init__(
        self,
        runs: Runs,
        lifecycle: ConnectorLifecycle,
        calls: ConnectorCalls,
        publishing: Publishing,
        *,
        jobs: BackgroundJobs,
        spans: RecentSpans,
    ) -> None:
        self._runs = runs
        self._lifecycle = lifecycle
        self._calls = calls
        self._publishing = publishing
        self._jobs = jobs
        self._spans = spans

    def start(self, wanted: WantedConnector) -> None:
        """Bring a connector to its target state."""
        start = self._runs.connector(wanted.name).begin(wanted)
        self._spawn(start, "start connector", partial(self._reach, start, wanted.target))

    def set_target(self, name: str, target: TargetState) -> None:
        """Pause, resume or stop a connector that stays here."""
        start = self._runs.connector(name).under_way
        start.run.change(target=target, changing=True)
        self._spawn(start, "change connector", partial(self._change, start, target))

    def stop(self, name: str) -> None:
        """Stop a connector, then forget it; author code that still starts is given up."""
        start = self._runs.connector(name).under_way
        failed = start.run.phase is Phase.FAILED
        start.run.change(phase=Phase.STOPPING)
        self._lifecycle.rests(start)
        self._spawn(start, "stop connector", partial(self._stop, start, failed))

    def publish(self, name: str) -> None:
        """Ask a connector for task configurations and publish them."""
        start = self._runs.connector(name).under_way
        start.run.change(publishing=True, publish_due=False)
        self._spawn(start, "publish tasks", partial(self._publish, start))

    def reconfigure(self, incarnation: int) -> None:
        """A connector's object asks for its work to be divided again."""
        start = self._start_of(incarnation)
        if start is None:
            return
        if start.run.running is not None and start.run.running.publishing:
            start.reconfigure.set()
        else:
            start.run.change(publish_due=True)

    def waits(self, incarnation: int, reason: str) -> None:
        """A connector's object says what it waits for; nothing when it waits no longer."""
        start = self._start_of(incarnation)
        if start is not None and start.run.phase is not Phase.STOPPING:
            self._lifecycle.waits(start, reason)

    def failed(self, incarnation: int, trace: str, kind: FailureKind) -> None:
        """A connector's object failed outside of a call."""
        start = self._start_of(incarnation)
        if start is not None and start.run.phase is not Phase.STOPPING:
            start.cancel_jobs()
            self._failed(start, trace, kind)

    def process_ended(self, connectors: Iterable[str], blamed: PluginProcessGoneError | None) -> None:
        """Begin connectors at rest anew whose objects are gone; one that is `blamed` has failed.

        The others hear of it in their calls.
        """
        for start in [
            start for name in connectors if (start := self._runs.connector_start(name)) is not None
        ]:
            running = start.run.running
            idle = running is not None and running.phase is Phase.SETTLED and not running.changing
            if not (idle and start.incarnation):
                continue
            start.cancel_jobs()
            start.incarnation = 0
            if blamed is None:
                self._lifecycle.leave(start)
            else:
                self._failed(start, *_explained(blamed))

    def name_of(self, incarnation: int) -> str | None:
        """Return the connector whose object this is; nothing where it is gone."""
        start = self._start_of(incarnation)
        return None if start is None else start.name

    def _start_of(self, incarnation: int) -> ConnectorStart | None:
        starts = (run.start for run in self._runs.connectors)
        return next(
            (start for start in starts if start is not None and start.incarnation == incarnation), None
        )

    def _spawn(self, start: ConnectorStart, what: str, job: Callable[[], Coroutine[Any, Any, None]]) -> None:
        async def traced() -> None:
            with about(connector=start.name), self._spans.span(what, start.instance):
                await job()

        task = self._jobs.spawn(traced(), f"connector {start.name}")
        start.jobs.add(task)
        task.add_done_callback(start.jobs.discard)

    async def _reach(self, start: ConnectorStart, target: TargetState) -> None:
        """Reach a target state from a connector that does not run."""
        try:
            if target is TargetState.STARTED:
                await self._calls.start(start)
            else:
                await self._find_plugin(start)
        except CopycatError as error:
            self._failed(start, *_explained(error))
            return
        self._settled(start, target)

    async def _find_plugin(self, start: ConnectorStart) -> None:
        """Status shows its version, too; a connector that is not to run may well lack it."""
        try:
            await self._calls.find_plugin(start)
        except CopycatError as error:
            log.warning("the plugin of connector %s is not installed here: %s", start.name, error)

    async def _change(self, start: ConnectorStart, target: TargetState) -> None:
        start.cancel_jobs()
        self._lifecycle.rests(start)
        start.run.change(publishing=False)
        if target is TargetState.STARTED:
            await self._reach(start, target)
            return
        try:
            await self._calls.stop(start)
        except CopycatError as error:
            if target is TargetState.PAUSED:
                self._failed(start, *_explained(error))
                return
            log.warning("connector %s failed to stop: %s", start.name, error)
        self._settled(start, target)

    async def _stop(self, start: ConnectorStart, failed: bool) -> None:
        start.cancel_jobs()
        trace = None
        try:
            await self._calls.stop(start)
        except PluginError as error:
            trace = error.trace
        except CopycatError as error:
            log.warning("connector %s did not stop and is abandoned: %s", start.name, error)
        if trace is not None:
            self._lifecycle.report(start, status_outbox.FAILED, trace)
        elif not failed and not self._lifecycle.wanted(start):
            self._lifecycle.report(start, status_outbox.UNASSIGNED)
        self._lifecycle.leave(start)

    async def _publish(self, start: ConnectorStart) -> None:
        try:
            await self._publishing.publish(start)
        except CopycatError as error:
            self._failed(start, *_explained(error))
            return
        start.run.change(publishing=False, publish_due=start.reconfigure.is_set())

    def _settled(self, start: ConnectorStart, target: TargetState) -> None:
        started = target is TargetState.STARTED
        limited = self._publishing.limited(start) if started else None
        if limited is not None:
            log.warning("connector %s: %s", start.name, limited)
        self._lifecycle.settle(start, STATE_OF_TARGET[target], limited, publish=started)

    def _failed(self, start: ConnectorStart, trace: str, kind: FailureKind) -> None:
        self._calls.abandon(start)
        self._lifecycle.fail(start, trace, kind)


def _explained(error: CopycatError) -> tuple[str, FailureKind]:
    if isinstance(error, PluginError):
        return error.trace, error.kind
    return trace_text(error), _KINDS.get(type(error)) or kind_of(error, {}) or FailureKind.BUG
