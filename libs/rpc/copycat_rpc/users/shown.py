"""What of an answer about many connectors a user gets: what is about those that the user may see.

Services know nothing of roles. What they answer is looked through on its way out, by this table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from copycat_access.roles import Role, Rules
from copycat_connect.cluster import Caller

from copycat_rpc.users.needs import CONFIG, EXECUTOR, SCHEDULER, STATUS

Sees: TypeAlias = Callable[[str], bool]
"""Whether a user may see the connector of this name."""
Filter: TypeAlias = Callable[[Any, Sees], Any]
"""Returns what a user gets of a message, which is never changed itself; None where that is nothing."""
NameOf: TypeAlias = Callable[[Any], str]


def _listed(field: str, name_of: NameOf) -> Filter:
    """Return what leaves those out of a list that a user may not see."""

    def keep(message: Any, sees: Sees) -> Any:
        shown = type(message)()
        shown.CopyFrom(message)
        kept = [each for each in getattr(message, field) if sees(name_of(each))]
        shown.ClearField(field)
        getattr(shown, field).extend(kept)
        return shown

    return keep


def _watched(names: Mapping[str, NameOf]) -> Filter:
    """Return what lets changes pass that are about connectors which a user may see, and ends of snapshots.

    `names`: by the kind of the change, the connector it is about. A kind that is not there is about none.
    """

    def keep(message: Any, sees: Sees) -> Any:
        kind = message.WhichOneof("change")
        if kind == SNAPSHOT_COMPLETE:
            return message
        return message if kind in names and sees(names[kind](getattr(message, kind))) else None

    return keep


def _workers(message: Any, sees: Sees) -> Any:
    shown = type(message)()
    shown.CopyFrom(message)
    for worker, whole in zip(shown.workers, message.workers, strict=True):
        worker.ClearField("held")
        worker.held.extend(each for each in whole.held if sees(each.instance.connector))
    return shown


SNAPSHOT_COMPLETE: Final = "snapshot_complete"

#: Of the calls that whoever has the role for any connector may make, those whose answers are about none.
SHOWN_WHOLE: Final = frozenset(
    {
        f"{EXECUTOR}ListPlugins",
        f"{EXECUTOR}GetPluginConfig",
        f"{EXECUTOR}ValidateConnector",
        f"{SCHEDULER}DescribeKafkaCluster",
    }
)
#: By the path of all other such calls; one that is in neither is denied. Log levels in a watch are about no
#: connector, and so are not shown.
SHOWN: Final[Mapping[str, Filter]] = {
    f"{CONFIG}ListConnectors": _listed("connectors", lambda each: each.name),
    f"{CONFIG}WatchConnectors": _watched(
        {
            "connector": lambda each: each.name,
            "removed": lambda each: each,
            "restart": lambda each: each.connector,
        }
    ),
    f"{SCHEDULER}ListWorkers": _workers,
    f"{SCHEDULER}ListAssignments": _listed("assignments", lambda each: each.instance.connector),
    f"{SCHEDULER}WatchAssignments": _watched(
        {"assignment": lambda each: each.instance.connector, "removed": lambda each: each.connector}
    ),
    f"{STATUS}ListConnectorStatuses": _listed("statuses", lambda each: each.connector),
    f"{STATUS}WatchStatuses": _watched(
        {"status": lambda each: each.connector, "removed": lambda each: each.connector}
    ),
}


class Showing:
    """What one user gets of the answers of one call, by the rules of the moment."""

    def __init__(self, keep: Filter, rules: Callable[[], Rules], caller: Caller, role: Role) -> None:
        """`rules`: gives those in force."""
        self._keep = keep
        self._rules = rules
        self._caller = caller
        self._role = role
        self._by: Rules | None = None
        self._sees: Sees | None = None

    def __call__(self, message: Any) -> Any:
        """Return what the user gets of a message; None where that is nothing."""
        rules = self._rules()
        if rules is not self._by:
            everything = rules.everywhere(self._caller, self._role)
            self._by, self._sees = rules, None if everything else rules.covering(self._caller, self._role)
        return message if self._sees is None else self._keep(message, self._sees)
