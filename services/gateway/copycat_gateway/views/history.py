"""Changes of a connector as they are shown."""

# No postponed annotations here: the OpenAPI document would not see `NotRequired` in them.
import json
from typing import Any, Final, NotRequired, TypedDict

from copycat.history.v1 import history_service_pb2 as pb

CONFIG: Final = "config"
TARGET_STATE: Final = "target_state"
STATUS: Final = "status"
OFFSETS: Final = "offsets"
ACT: Final = "act"
COMMIT: Final = "commit"
#: Which service knows of which kinds.
KINDS_BY_ROLE: Final = {
    "config": (CONFIG, TARGET_STATE),
    "status": (STATUS, ACT),
    "offset": (OFFSETS, COMMIT),
}
KINDS: Final = tuple(kind for kinds in KINDS_BY_ROLE.values() for kind in kinds)
#: These have no before and after, but something to say.
TELLING: Final = {OFFSETS, ACT}


class ChangedBy(TypedDict):
    """Who asked for a change."""

    type: str  # user, automatic, unknown
    name: str | None
    address: str | None


class ShownChange(TypedDict):
    """One change."""

    id: str
    time: str
    kind: str
    what: str
    task: NotRequired[int]
    partition: NotRequired[dict[str, Any]]  # JSON of the connector's own making
    before: NotRequired[
        Any
    ]  # a configuration, a target state, a status, an offset; null where there was none
    after: NotRequired[Any]
    about: NotRequired[Any]  # of acts and of changes of offsets: what else there is to say
    omitted: NotRequired[bool]  # the fact was too large to be kept
    by: ChangedBy
    reason: NotRequired[str]
    trace_id: NotRequired[str]


class History(TypedDict):
    """Changes of a connector, newest first."""

    connector: str
    changes: list[ShownChange]
    next: str | None  # what `before` asks for the next page; null on the last one


def shown_change(change: pb.PastChange, time: str) -> ShownChange:
    """Return one change; `time` is its time by ISO 8601."""
    by = change.by
    shown: ShownChange = {
        "id": change.id,
        "time": time,
        "kind": change.kind,
        "what": change.what,
        "by": {"type": by.type or "unknown", "name": by.name or None, "address": by.address or None},
    }
    if change.kind == COMMIT:
        shown["partition"] = json.loads(change.subject)
    elif change.subject:
        shown["task"] = int(change.subject)
    after = json.loads(change.after) if change.HasField("after") else None
    if change.kind in TELLING:
        shown["about"] = after
    else:
        if change.before_known or change.HasField("before"):
            shown["before"] = json.loads(change.before) if change.HasField("before") else None
        shown["after"] = after
    if change.omitted:
        shown["omitted"] = True
    if change.reason:
        shown["reason"] = change.reason
    if change.trace_id:
        shown["trace_id"] = change.trace_id
    return shown
