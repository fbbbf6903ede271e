"""How starts of connectors end on this worker, what keeps them from their work, and how both are reported."""

from __future__ import annotations

import time
from typing import Final

from copycat.status.v1 import status_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.error_text import trace_line
from copycat_connect.errors import CopycatError, RetriableError
from copycat_connect.failure_kind import FailureKind
from copycat_rpc.errors import code_of

from copycat_executor.children.open_calls import PluginError
from copycat_executor.domain.errors import PluginProcessGoneError
from copycat_executor.domain.running import Phase
from copycat_executor.outbox import status_outbox
from copycat_executor.outbox.status_outbox import StatusOutbox
from copycat_executor.outbox.trouble_outbox import TroubleOutbox
from copycat_executor.state.feed import Feed
from copycat_executor.state.recovery import Recovery
from copycat_executor.state.runs import ConnectorStart

_DIVIDING: Final = "task_configs"
_PUBLISHING: Final = "publishing of task configurations"


class ConnectorLifecycle:
    """Settles and ends starts of connectors. What its calls raise is reported before what its author says."""

    def __init__(
        self, feed: Feed, statuses: StatusOutbox, troubles: TroubleOutbox, recovery: Recovery
    ) -> None:
        self._feed = feed
        self._statuses = statuses
        self._troubles = troubles
        self._recovery = recovery

    def settle(
        self, start: ConnectorStart, state: types_pb2.State.ValueType, limited: str | None, *, publish: bool
    ) -> None:
        """Note that a connector is in its target state; `limited` is what its status says of its tasks."""
        self.report(start, state, limited)
        self._recovery.runs_again(start.run)
        start.run.change(phase=Phase.SETTLED, changing=False, publish_due=publish)

    def fail(self, start: ConnectorStart, trace: str, kind: FailureKind) -> None:
        """Note that a connector has failed: it is restarted as its configuration says, or by a user."""
        self.rests(start)
        start.run.change(phase=Phase.FAILED, changing=False, publishing=False, publish_due=False)
        trace = self._recovery.failed(start.run, start.config, kind, trace)
        self.report(start, status_outbox.FAILED, trace)

    def wanted(self, start: ConnectorStart) -> bool:
        """Return whether this worker should run the connector."""
        return self._feed.wants(start.instance)

    def leave(self, start: ConnectorStart) -> None:
        """Note that a connector has left; what is not wanted any more begins anew should it come back."""
        if not self.wanted(start):
            self._recovery.forget(start.run)
        self.rests(start)
        start.run.leave()

    def undivided(self, start: ConnectorStart, error: CopycatError) -> None:
        """Report that its work was not divided, or what came of it not published; that is tried again."""
        before = start.undivided
        since_ms, tries = (_now_ms(), 0) if before is None else (before.since_ms, before.tries)
        start.undivided = _trouble(error, since_ms, tries + 1)
        self._report_trouble(start)

    def divided(self, start: ConnectorStart) -> None:
        """Note that its task configurations are published."""
        if start.undivided is not None:
            start.undivided = None
            self._report_trouble(start)

    def waits(self, start: ConnectorStart, reason: str) -> None:
        """Report what its author says it waits for; nothing when it waits no longer."""
        since_ms = _now_ms() if start.waits is None else start.waits.since_ms
        start.waits = _waiting(reason, since_ms) if reason else None
        self._report_trouble(start)

    def rests(self, start: ConnectorStart) -> None:
        """Note that it has failed, rests or is gone: nothing keeps it from its work any more."""
        start.undivided = start.waits = None
        self._troubles.withdraw(start.run.trouble)

    def report(
        self, start: ConnectorStart, state: types_pb2.State.ValueType, trace: str | None = None
    ) -> None:
        """Report what a connector does now."""
        generation = self._feed.generation_for(start.instance, start.generation)
        if start.plugin is not None and start.run.meter is not None:
            start.run.meter.plugin = start.plugin
        start.run.measure_state(state)
        self._statuses.report(start.instance, state, generation, trace=trace, version=start.version)

    def _report_trouble(self, start: ConnectorStart) -> None:
        trouble = start.undivided or start.waits
        if trouble is None:
            self._troubles.over(start.run.trouble)
        else:
            self._troubles.report(start.run.trouble, start.generation, trouble)


def _trouble(error: CopycatError, since_ms: int, tries: int) -> pb.Trouble:
    if isinstance(error, PluginProcessGoneError):
        return _retried(_DIVIDING, error.message, since_ms, tries)
    if not isinstance(error, PluginError):
        return _retried(_PUBLISHING, error.message, since_ms, tries)
    if code_of(error).name == RetriableError.code.name:  # who raises it says in the text what it waits for
        return _waiting(error.message, since_ms)
    return _retried(_DIVIDING, trace_line(error.trace), since_ms, tries, lasting=not error.kind.passes)


def _retried(call: str, text: str, since_ms: int, tries: int, *, lasting: bool = False) -> pb.Trouble:
    return pb.Trouble(
        kind=pb.TROUBLE_KIND_RETRIES, call=call, since_ms=since_ms, tries=tries, text=text, lasting=lasting
    )


def _waiting(text: str, since_ms: int) -> pb.Trouble:
    return pb.Trouble(kind=pb.TROUBLE_KIND_WAITS, since_ms=since_ms, text=text)


def _now_ms() -> int:
    return int(time.time() * 1000)
