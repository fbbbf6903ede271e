"""What keeps connectors of this worker from their work without being a failure, told until it is over."""

from __future__ import annotations

import time
from typing import Final

from copycat.status.v1 import status_service_pb2 as pb
from copycat_connect.errors import CopycatError, RetriableError
from copycat_connect.trace_line import trace_line
from copycat_rpc.errors import code_of

from copycat_executor.children.plugin_errors import PluginError
from copycat_executor.domain.errors import PluginProcessGoneError
from copycat_executor.outbox.trouble_outbox import TroubleOutbox
from copycat_executor.state.runs import ConnectorStart

_DIVIDING: Final = "task_configs"
_PUBLISHING: Final = "publishing of task configurations"


class ConnectorTroubles:
    """Of what its author says and what its calls raise, a connector tells the latter first."""

    def __init__(self, outbox: TroubleOutbox) -> None:
        """`outbox` tells the status service."""
        self._outbox = outbox

    def undivided(self, start: ConnectorStart, error: CopycatError) -> None:
        """Its work could not be divided, or what came of it not be published; that is tried again."""
        before = start.undivided
        since_ms, tries = (_now_ms(), 0) if before is None else (before.since_ms, before.tries)
        start.undivided = _trouble(error, since_ms, tries + 1)
        self._tell(start)

    def divided(self, start: ConnectorStart) -> None:
        """Its task configurations are published."""
        if start.undivided is not None:
            start.undivided = None
            self._tell(start)

    def waits(self, start: ConnectorStart, reason: str) -> None:
        """Its author says what it waits for; nothing when it waits no longer."""
        since_ms = _now_ms() if start.waits is None else start.waits.since_ms
        start.waits = _waiting(reason, since_ms) if reason else None
        self._tell(start)

    def forget(self, start: ConnectorStart) -> None:
        """It has failed, rests or is gone: nothing of this counts any more."""
        start.undivided = start.waits = None
        self._outbox.forget(start.instance)

    def _tell(self, start: ConnectorStart) -> None:
        trouble = start.undivided or start.waits
        if trouble is None:
            self._outbox.over(start.instance)
        else:
            self._outbox.tell(start.instance, start.generation, trouble)


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
