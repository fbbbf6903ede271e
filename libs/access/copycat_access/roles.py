"""Roles: what somebody may do with which connectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fnmatch import translate
from typing import Final

from copycat_connect.cluster import Caller

EVERY_CONNECTOR: Final = "*"


class Role(IntEnum):
    """What may be done; each role includes those before it."""

    VIEWER = 1
    """Read configurations, statuses and topics."""
    OPERATOR = 2
    """Pause, resume, stop, restart; read offsets and the history."""
    ADMIN = 3
    """Create, change and delete; alter offsets; set log levels."""

    @property
    def label(self) -> str:
        """The name in rules and messages."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Rule:
    """Gives a role to some users and groups."""

    role: Role
    """What those may do whom the rule is for."""
    connectors: Sequence[str]
    """Patterns of names: `*`, `?` and `[abc]` as in a shell, the whole name in its case."""
    users: frozenset[str] = frozenset()
    """Names of users, exactly as they log in."""
    groups: frozenset[str] = frozenset()
    """Groups, exactly as tokens name them."""

    def is_for(self, caller: Caller) -> bool:
        """Return whether it names this caller."""
        return caller.name in self.users or not self.groups.isdisjoint(caller.groups)


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules; what none of them allows is denied."""

    rules: Sequence[Rule] = ()
    """In the order of the file, which does not matter: no rule takes anything away."""

    def on_connector(self, caller: Caller | None, role: Role, connector: str) -> bool:
        """Return whether a caller has at least this role for a connector, which need not exist."""
        return self.covering(caller, role)(connector)

    def covering(self, caller: Caller | None, role: Role) -> Callable[[str], bool]:
        """Return what says of one connector after the other what `on_connector` does.

        The caller's rules are found once, and their patterns are one: a list may name 10,000.
        """
        patterns = [pattern for rule in self._giving(caller, role) for pattern in rule.connectors]
        if not patterns:
            return lambda connector: False
        fits = re.compile("|".join(translate(pattern) for pattern in patterns)).match
        return lambda connector: fits(connector) is not None

    def anywhere(self, caller: Caller | None, role: Role) -> bool:
        """Return whether a caller has at least this role for some connectors."""
        return bool(self._giving(caller, role))

    def everywhere(self, caller: Caller | None, role: Role) -> bool:
        """Return whether a caller has at least this role for all connectors, by the pattern `*`."""
        return any(EVERY_CONNECTOR in rule.connectors for rule in self._giving(caller, role))

    def _giving(self, caller: Caller | None, role: Role) -> Sequence[Rule]:
        if caller is None:
            return ()
        return [rule for rule in self.rules if rule.role >= role and rule.is_for(caller)]
