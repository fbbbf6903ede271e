"""Who asks for something."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request, as somebody has found out who may be believed."""

    name: str
    """The user's name; roles, the log and the history know the user by it."""
    groups: frozenset[str] = frozenset()
    """Groups the user is in, for roles."""
