"""Changes of a connector as they are shown."""

from __future__ import annotations

import json
from typing import Final

from copycat.history.v1 import history_service_pb2 as pb
from copycat_rest.answers import ChangedBy, ShownChange
from msgspec import UNSET

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


def shown_change(change: pb.PastChange, time: str) -> ShownChange:
    """Return one change; `time` is its time by ISO 8601."""
    by = change.by
    tells = change.kind in TELLING
    had_before = not tells and (change.before_known or change.HasField("before"))
    before = json.loads(change.before) if change.HasField("before") else None
    after = json.loads(change.after) if change.HasField("after") else None
    commit = change.kind == COMMIT
    return ShownChange(
        id=change.id,
        time=time,
        kind=change.kind,
        what=change.what,
        by=ChangedBy(by.type or "unknown", by.name or None, by.address or None),
        task=int(change.subject) if change.subject and not commit else UNSET,
        partition=json.loads(change.subject) if commit else UNSET,
        before=before if had_before else UNSET,
        after=UNSET if tells else after,
        about=after if tells else UNSET,
        omitted=change.omitted or UNSET,
        reason=change.reason or UNSET,
        trace_id=change.trace_id or UNSET,
    )
