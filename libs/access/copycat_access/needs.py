"""What a request needs: a role, and for which connectors."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from copycat_connect.cluster import Caller

from copycat_access.refusals import RoleNeededError
from copycat_access.roles import Role, Rules


class Scope(Enum):
    """For which connectors a role is needed."""

    CONNECTOR = auto()
    """For the one that the request names."""
    IN_BODY = auto()
    """For the one that the body names, which is asked about as soon as it was read; before, for some."""
    ANYWHERE = auto()
    """For some; only those are shown that the caller may see."""
    EVERYWHERE = auto()
    """For all of them, by the pattern `*`."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a route or a call needs."""

    role: Role
    """The caller must have this role or one that includes it."""
    scope: Scope
    """Where the caller must have it."""
    act: str = ""
    """What it does, for the audit; empty for one that only reads."""


def demand(rules: Rules, caller: Caller | None, need: Need, connector: str = "") -> None:
    """Return where a caller may do what needs this; `connector` is the one that is named.

    Raises:
        RoleNeededError: The caller lacks the role.
    """
    match need.scope:
        case Scope.CONNECTOR:
            allowed, what = rules.on_connector(caller, need.role, connector), f"connector {connector}"
        case Scope.EVERYWHERE:
            allowed, what = rules.everywhere(caller, need.role), "all connectors"
        case Scope.ANYWHERE | Scope.IN_BODY:
            allowed, what = rules.anywhere(caller, need.role), "some connector"
    if not allowed:
        raise RoleNeededError(need.role, what, caller)
