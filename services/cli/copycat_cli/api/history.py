"""`/connectors/X/history`, and what was there at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from copycat_connect.cluster import Config
from copycat_rest.answers import ChangedBy, History

from copycat_cli.api.connectors import CONNECTORS

if TYPE_CHECKING:
    from copycat_cli.rest import Rest

ACT = "act"
KINDS = ("config", "target_state", "status", "offsets", ACT, "commit")


def author(by: ChangedBy) -> str:
    """Return who asked for a change, in a table."""
    if by.type == "user":
        return by.name or f"somebody at {by.address}" if by.address or by.name else "somebody"
    return f"{by.type}: {by.name}" if by.name else by.type


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
