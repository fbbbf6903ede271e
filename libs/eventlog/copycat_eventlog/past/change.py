"""One change of one fact about a connector, and its record in the changes topic."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from copycat_telemetry.changes import Asker

from copycat_eventlog.json_text import (
    MalformedError,
    read_integer,
    read_json,
    read_key,
    read_object,
    read_task_key,
    readable_time,
)
from copycat_eventlog.log import Record

#: Of a fact before or after, JSON text; a record of both is still well below what Kafka takes.
MAX_FACT_CHARACTERS: Final = 200_000
MAX_REASON_CHARACTERS: Final = 2_000

#: Kinds of changes.
CONFIG: Final = "config"
TARGET_STATE: Final = "target_state"
STATUS: Final = "status"
OFFSETS: Final = "offsets"
ACT: Final = "act"
COMMIT: Final = "commit"
#: What is shown where no kind is asked for; commits are many, and users did not make them.
SHOWN_KINDS: Final = frozenset({CONFIG, TARGET_STATE, STATUS, OFFSETS, ACT})


@dataclass(frozen=True, slots=True)
class PastChange:
    """A change of one fact."""

    time_ms: int
    """Milliseconds since the epoch."""
    connector: str
    kind: str
    """One of the kinds above."""
    what: str
    """What happened, the same text for each change of its kind."""
    subject: str = ""
    """Empty for the connector, the number of a task, or the JSON text of a partition."""
    before: str | None = None
    """JSON text of the fact before; None where there was none or nobody knows."""
    after: str | None = None
    """JSON text of the fact after; None where it is gone."""
    before_known: bool = False
    """Whether `before` is known, so that None says that there was none."""
    omitted: bool = False
    """Whether the fact was too large to be kept."""
    by: Asker = field(default_factory=Asker)
    reason: str = ""
    """Why, for automatic acts."""
    trace_id: str = ""
    """Of the request, 32 hexadecimal digits."""
    position: tuple[int, int] | None = None
    """Partition and offset of the event in the service's own log; None where it is in no log."""
    place: str = ""
    """Where the change is kept, unique in its service; given by who reads it."""

    @property
    def id(self) -> str:
        """Unique among the changes of a connector; in the order of time."""
        return f"{self.time_ms:015d}-{self.place}"


def fact_text(fact: object) -> str:
    """Return a fact as JSON text."""
    return json.dumps(fact, ensure_ascii=False, separators=(",", ":"))


def write_change(change: PastChange) -> Record:
    """Return the record of a change: its key is the connector's name, its value JSON."""
    before, after = _bounded(change.before), _bounded(change.after)
    fields: dict[str, Any] = {
        "time": change.time_ms,
        "kind": change.kind,
        "what": change.what,
        "subject": change.subject,
        "before": before,
        "after": after,
        "before_known": change.before_known,
        "omitted": change.omitted or (before, after) != (change.before, change.after),
        "by": {"type": change.by.type, "name": change.by.name, "address": change.by.address},
        "reason": change.reason[:MAX_REASON_CHARACTERS],
        "trace": change.trace_id,
        "position": change.position,
    }
    return Record(change.connector.encode(), fact_text(fields).encode())


def read_change(record: Record, place: str) -> PastChange:
    """Return the change of a record.

    Raises:
        MalformedError: The record is not one of ours: what is in it could not be shown.
    """
    if record.value is None:
        raise MalformedError("a change has no tombstone")
    found = read_object(record.value)
    time_ms, kind = readable_time(read_integer(found, "time")), _text(found, "kind")
    if time_ms is None:
        raise MalformedError("field 'time' is no time")
    asker = found.get("by")
    by: Mapping[str, object] = asker if isinstance(asker, dict) else {}
    return PastChange(
        time_ms=time_ms,
        connector=read_key(record.key),
        kind=kind,
        what=_text(found, "what"),
        subject=_subject(found, kind),
        before=_fact(found, "before"),
        after=_fact(found, "after"),
        before_known=found.get("before_known") is True,
        omitted=found.get("omitted") is True,
        by=Asker(_text(by, "type"), _text(by, "name"), _text(by, "address")),
        reason=_text(found, "reason"),
        trace_id=_text(found, "trace"),
        position=_position(found.get("position")),
        place=place,
    )


def _bounded(fact: str | None) -> str | None:
    return None if fact is None or len(fact) > MAX_FACT_CHARACTERS else fact


def _text(found: Mapping[str, object], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def _subject(found: Mapping[str, object], kind: str) -> str:
    subject = _text(found, "subject")
    if kind == COMMIT:
        read_json(subject.encode())
    elif subject:
        read_task_key(f"-{subject}")
    return subject


def _fact(found: Mapping[str, object], name: str) -> str | None:
    value = found.get(name)
    if not isinstance(value, str):
        return None
    read_json(value.encode())
    return value


def _position(value: object) -> tuple[int, int] | None:
    match value:
        case [int(partition), int(offset)]:
            return partition, offset
        case _:
            return None
