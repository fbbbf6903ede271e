"""Connectors: started, paused, stopped; their author code runs in the process of the connectors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from typing import Any

from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TargetState
from copycat_connect.errors import CopycatError
from copycat_connect.failure_kind import FailureKind, kind_of
from copycat_telemetry.context import about
from copycat_telemetry.recent_spans import RecentSpans

from copycat_executor.background.jobs import Jobs
from copycat_executor.children.plugin_errors import PluginError
from copycat_executor.connectors.connector_calls import ConnectorCalls
from copycat_executor.connectors.connector_life import ConnectorLife
from copycat_executor.connectors.connector_troubles import ConnectorTroubles
from copycat_executor.connectors.publishing import Publishing
from copycat_executor.domain.desired import WantedConnector
from copycat_executor.domain.errors import PluginHangsError, PluginProcessGoneError
from copycat_executor.domain.running import Phase, RunningConnector
from copycat_executor.metrics.worker_meter import WorkerMeter
from copycat_executor.outbox import status_outbox
from copycat_executor.outbox.status_outbox import StatusOutbox
from copycat_executor.pipeline.records.trace import trace_text
from copycat_executor.state.board import Board
from copycat_executor.state.feed import Feed
from copycat_executor.state.healer import Healer

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
        *,
        board: Board,
        feed: Feed,
        calls: ConnectorCalls,
        publishing: Publishing,
        troubles: ConnectorTroubles,
        statuses: StatusOutbox,
        healer: Healer,
        meter: WorkerMeter,
        jobs: Jobs,
        spans: RecentSpans,
    ) -> None:
        self._spans = spans
        self._healer = healer
        self._board = board
        self._feed = feed
        self._calls = calls
        self._publishing = publishing
        self._troubles = troubles
        self._statuses = statuses
        self._meter = meter
        self._jobs = jobs
        self._lives: dict[str, ConnectorLife] = {}

    def start(self, wanted: WantedConnector) -> None:
        """Bring a connector to its target state."""
        life = ConnectorLife(wanted.name, wanted.config, wanted.generation)
        self._lives[wanted.name] = life
        running = RunningConnector(wanted.config, wanted.generation, wanted.target)
        self._board.put_connector(wanted.name, running)
        self._meter.begins(life.instance)
        self._spawn(life, "start connector", partial(self._reach, life, wanted.target))

    def set_target(self, name: str, target: TargetState) -> None:
        """Pause, resume or stop a connector that stays here."""
        self._board.change_connector(name, target=target, changing=True)
        life = self._lives[name]
        self._spawn(life, "change connector", partial(self._change, life, target))

    def stop(self, name: str) -> None:
        """Stop a connector, then forget it; author code that still starts is given up."""
        failed = self._board.connectors[name].phase is Phase.FAILED
        self._board.change_connector(name, phase=Phase.STOPPING)
        life = self._lives[name]
        self._troubles.forget(life)
        self._spawn(life, "stop connector", partial(self._stop, life, failed))

    def publish(self, name: str) -> None:
        """Ask a connector for task configurations and publish them."""
        self._board.change_connector(name, publishing=True, publish_due=False)
        life = self._lives[name]
        self._spawn(life, "publish tasks", partial(self._publish, life))

    def reconfigure(self, incarnation: int) -> None:
        """A connector's object asks for its work to be divided again."""
        life = self._life_of(incarnation)
        if life is None:
            return
        if self._board.connectors[life.name].publishing:
            life.reconfigure.set()
        else:
            self._board.change_connector(life.name, publish_due=True)

    def waits(self, incarnation: int, reason: str) -> None:
        """A connector's object says what it waits for; nothing when it waits no longer."""
        life = self._life_of(incarnation)
        if life is not None and self._board.connectors[life.name].phase is not Phase.STOPPING:
            self._troubles.waits(life, reason)

    def failed(self, incarnation: int, trace: str, kind: FailureKind) -> None:
        """A connector's object failed outside of a call."""
        life = self._life_of(incarnation)
        if life is not None and self._board.connectors[life.name].phase is not Phase.STOPPING:
            life.cancel_jobs()
            self._failed(life, trace, kind)

    def process_ended(self, connectors: Iterable[str], blamed: PluginProcessGoneError | None) -> None:
        """Begin connectors at rest anew whose objects are gone; one that is `blamed` has failed.

        The others hear of it in their calls.
        """
        for life in [life for name in connectors if (life := self._lives.get(name)) is not None]:
            runs = self._board.connectors[life.name]
            idle = runs.phase is Phase.SETTLED and not runs.changing
            if not (idle and life.incarnation):
                continue
            life.cancel_jobs()
            life.incarnation = 0
            if blamed is None:
                self._forget(life)
            else:
                self._failed(life, *_explained(blamed))

    def name_of(self, incarnation: int) -> str | None:
        """Return the connector whose object this is; nothing where it is gone."""
        life = self._life_of(incarnation)
        return None if life is None else life.name

    def _life_of(self, incarnation: int) -> ConnectorLife | None:
        return next((life for life in self._lives.values() if life.incarnation == incarnation), None)

    def _spawn(self, life: ConnectorLife, what: str, job: Callable[[], Coroutine[Any, Any, None]]) -> None:
        async def traced() -> None:
            with about(connector=life.name), self._spans.span(what, life.instance):
                await job()

        task = self._jobs.spawn(traced(), f"connector {life.name}")
        life.jobs.add(task)
        task.add_done_callback(life.jobs.discard)

    async def _reach(self, life: ConnectorLife, target: TargetState) -> None:
        """Reach a target state from a connector that does not run."""
        try:
            if target is TargetState.STARTED:
                await self._calls.start(life)
            else:
                await self._find_plugin(life)
        except CopycatError as error:
            self._failed(life, *_explained(error))
            return
        self._settled(life, target)

    async def _find_plugin(self, life: ConnectorLife) -> None:
        """Status shows its version, too; a connector that is not to run may well lack it."""
        try:
            await self._calls.find_plugin(life)
        except CopycatError as error:
            log.warning("the plugin of connector %s is not installed here: %s", life.name, error)

    async def _change(self, life: ConnectorLife, target: TargetState) -> None:
        life.cancel_jobs()
        self._troubles.forget(life)
        self._board.change_connector(life.name, publishing=False)
        if target is TargetState.STARTED:
            await self._reach(life, target)
            return
        try:
            await self._calls.stop(life)
        except CopycatError as error:
            if target is TargetState.PAUSED:
                self._failed(life, *_explained(error))
                return
            log.warning("connector %s failed to stop: %s", life.name, error)
        self._settled(life, target)

    async def _stop(self, life: ConnectorLife, failed: bool) -> None:
        life.cancel_jobs()
        trace = None
        try:
            await self._calls.stop(life)
        except PluginError as error:
            trace = error.trace
        except CopycatError as error:
            log.warning("connector %s did not stop and is abandoned: %s", life.name, error)
        if trace is not None:
            self._report(life, status_outbox.FAILED, trace)
        elif not failed and not self._feed.wants(life.instance):
            self._report(life, status_outbox.UNASSIGNED)
        self._forget(life)

    async def _publish(self, life: ConnectorLife) -> None:
        try:
            await self._publishing.publish(life)
        except CopycatError as error:
            self._failed(life, *_explained(error))
            return
        self._board.change_connector(life.name, publishing=False, publish_due=life.reconfigure.is_set())

    def _settled(self, life: ConnectorLife, target: TargetState) -> None:
        limited = self._publishing.limited(life) if target is TargetState.STARTED else None
        if limited is not None:
            log.warning("connector %s: %s", life.name, limited)
        self._report(life, STATE_OF_TARGET[target], limited)
        self._healer.running(life.instance)
        self._board.change_connector(
            life.name, phase=Phase.SETTLED, changing=False, publish_due=target is TargetState.STARTED
        )

    def _failed(self, life: ConnectorLife, trace: str, kind: FailureKind) -> None:
        self._calls.abandon(life)
        self._troubles.forget(life)
        self._board.change_connector(
            life.name, phase=Phase.FAILED, changing=False, publishing=False, publish_due=False
        )
        self._report(life, status_outbox.FAILED, self._healer.failed(life.instance, life.config, kind, trace))

    def _report(
        self, life: ConnectorLife, state: types_pb2.State.ValueType, trace: str | None = None
    ) -> None:
        generation = self._feed.generation_for(life.instance, life.generation)
        if life.plugin is not None:
            self._meter.plugin(life.name, life.plugin)
        self._statuses.report(life.instance, state, generation, trace=trace, version=life.version)

    def _forget(self, life: ConnectorLife) -> None:
        if not self._feed.wants(life.instance):
            self._healer.forget(life.instance)
        self._troubles.forget(life)
        self._lives.pop(life.name, None)
        self._board.drop_connector(life.name)


def _explained(error: CopycatError) -> tuple[str, FailureKind]:
    if isinstance(error, PluginError):
        return error.trace, error.kind
    return trace_text(error), _KINDS.get(type(error)) or kind_of(error, {}) or FailureKind.BUG
