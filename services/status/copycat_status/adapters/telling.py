"""Turns events of the status topic into changes of a connector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, assert_never

from copycat_connect.cluster import Instance
from copycat_eventlog.past.change import ACT, STATUS, PastChange, fact_text
from copycat_eventlog.past.own_log import Describing
from copycat_telemetry.changes import AUTOMATIC, Asker

from copycat_status.domain.events import StatusEvent, StatusForgotten, StatusSet, TopicActive, TopicForgotten
from copycat_status.domain.state import StatusState
from copycat_status.domain.status import Status

#: More of a trace stays in the status itself, and in the status topic.
MAX_TRACE_CHARACTERS: Final = 4_000
NOT_IN_HISTORY: Final = (TopicActive, TopicForgotten)


def tell(event: StatusEvent, before: StatusState | None) -> Iterable[PastChange]:
    """Tell an event, given the state right before it where that is known."""
    match event:
        case StatusSet(instance, status):
            by = Asker(AUTOMATIC, f"worker {status.worker_id}")
            return (_change(instance, status, before, by),)
        case StatusForgotten(instance):
            return (_change(instance, None, before, Asker(AUTOMATIC)),)
        case TopicActive() | TopicForgotten():
            return ()
        case _:
            assert_never(event)


def act(instance: Instance, what: str, *, by: str, reason: str, about: str, time_ms: int) -> PastChange:
    """Return what a part of the cluster did by itself; `about` is JSON text, or empty."""
    subject = "" if instance.task is None else str(instance.task)
    asker = Asker(AUTOMATIC, by)
    return PastChange(
        time_ms, instance.connector, ACT, what, subject, after=about or None, by=asker, reason=reason
    )


def _change(instance: Instance, status: Status | None, before: StatusState | None, by: Asker) -> PastChange:
    known = None if before is None else before.status(instance)
    return PastChange(
        0,
        instance.connector,
        STATUS,
        "forgotten" if status is None else status.state.value,
        "" if instance.task is None else str(instance.task),
        _text(known),
        _text(status),
        before_known=before is not None,
        by=by,
    )


def _text(status: Status | None) -> str | None:
    if status is None:
        return None
    fact: dict[str, Any] = {
        "state": status.state.value,
        "worker_id": status.worker_id,
        "generation": status.generation,
    }
    if status.version is not None:
        fact["version"] = status.version
    if status.trace is not None:
        fact["trace"] = status.trace[:MAX_TRACE_CHARACTERS]
    return fact_text(fact)


def _concerns(key: bytes, connector: str) -> bool:
    return connector.encode() in key


TELLING: Final[Describing[StatusEvent, StatusState]] = Describing(
    tell, frozenset({STATUS}), NOT_IN_HISTORY, _concerns
)
