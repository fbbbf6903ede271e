"""`/connectors/X/history`, and what was there at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from copycat_connect.cluster import Config
from msgspec import Struct

from copycat_cli.api.connectors import CONNECTORS

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

ACT = "act"
KINDS = ("config", "target_state", "status", "offsets", ACT, "commit")


class ChangedBy(Struct, frozen=True):
    """Who asked for a change."""

    type: str = "unknown"
    """user, automatic or unknown."""
    name: str | None = None
    address: str | None = None

    @property
    def shown(self) -> str:
        """In a table."""
        if self.type == "user":
            return self.name or f"somebody at {self.address}" if self.address or self.name else "somebody"
        return f"{self.type}: {self.name}" if self.name else self.type


class PastChange(Struct, frozen=True, omit_defaults=True):
    """One change."""

    id: str
    time: str
    kind: str
    what: str
    by: ChangedBy
    task: int | None = None
    partition: Any = None
    before: Any = None
    after: Any = None
    about: Any = None
    omitted: bool = False
    reason: str | None = None
    trace_id: str | None = None


class History(Struct, frozen=True):
    """Changes, newest first."""

    connector: str
    changes: tuple[PastChange, ...]
    next: str | None = None
    """What asks for the page after this one."""


def get_history(
    rest: Rest,
    name: str,
    *,
    kinds: Sequence[str] = (),
    since: str | None = None,
    until: str | None = None,
    before: str | None = None,
    limit: int = 20,
) -> History:
    """Return a page of changes."""
    query: dict[str, str | list[str]] = {"limit": str(limit)}
    given = {"from": since, "to": until, "before": before}
    query |= {key: value for key, value in given.items() if value is not None}
    if kinds:
        query["kind"] = list(kinds)
    return rest.get(History, CONNECTORS, name, "history", query=query)


def get_config_at(rest: Rest, name: str, at: str) -> Config:
    """Return a configuration as it was at a time: ISO 8601, or how long ago, as in 2h."""
    return rest.get(dict[str, str | None], CONNECTORS, name, "config", query={"at": at})
