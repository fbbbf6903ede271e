"""How often a record arrives: the three guarantees of delivery, and which of them a configuration asks for.

`delivery.guarantee` of a connector is Copycat's own key (KIP-26); `exactly.once.support` of a connector and
`exactly.once.source.support` of a worker are Kafka Connect's (KIP-618) and mean what they mean there.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from copycat_connect.cluster import Config
from copycat_connect.config.framework_names import (
    DELIVERY_GROUP,
    DELIVERY_GUARANTEE,
    EXACTLY_ONCE_SUPPORT,
)
from copycat_connect.config.key import ConfigKey, Importance, Width
from copycat_connect.config.setting import ConfigSetting, Type
from copycat_connect.config.validators import one_of_ignoring_case
from copycat_connect.config.worker_keys import EXACTLY_ONCE

_STANDALONE: Final = "memory"


class Guarantee(Enum):
    """What a connector's records are promised."""

    AT_LEAST_ONCE = "at_least_once"
    """Nothing is lost; after a crash records may be repeated."""
    AT_MOST_ONCE = "at_most_once"
    """Nothing is repeated; after a crash records may be missing."""
    EXACTLY_ONCE = "exactly_once"
    """Nothing is lost and nothing is repeated."""


class ExactlyOnceSources(Enum):
    """Which source connectors of a worker deliver exactly once."""

    NONE = "none"
    """The worker forbids it, or has no topic for offsets: one that requires it is refused."""
    ON_REQUEST = "on request"
    """Those that require it."""
    ALL = "all"
    """All of them, as with Kafka Connect's `exactly.once.source.support=enabled`."""

    @classmethod
    def of(cls, worker: Config) -> ExactlyOnceSources:
        """Read it from a worker's properties."""
        if (worker.get("storage.backend") or "").strip() == _STANDALONE or not worker.get("group.id"):
            return cls.NONE  # a standalone worker's offsets are in a file, outside of Kafka's transactions
        said = (worker.get(EXACTLY_ONCE.name) or "").strip().lower()
        return {"": cls.ON_REQUEST, "enabled": cls.ALL}.get(said, cls.NONE)


def _guarantee_name(name: str, value: ConfigSetting) -> None:
    if value is not None:
        one_of_ignoring_case(*(each.value for each in Guarantee))(name, value)


GUARANTEE: Final = ConfigKey(
    DELIVERY_GUARANTEE,
    Type.STRING,
    Importance.MEDIUM,
    default=None,
    validator=_guarantee_name,
    doc=(
        "What records are promised: at_least_once (the default), at_most_once (positions are committed "
        "before delivery), or exactly_once, where the connector supports it."
    ),
    group=DELIVERY_GROUP,
    order=1,
    width=Width.SHORT,
    display_name="Delivery guarantee",
)
"""The key by which a connector chooses; it is shown only where it is set, as Kafka Connect has none."""


def chosen_guarantee(connector: Config) -> Guarantee | None:
    """Return what `delivery.guarantee` says; None when it says nothing, or nothing that could be meant."""
    said = (connector.get(DELIVERY_GUARANTEE) or "").strip().lower()
    return next((each for each in Guarantee if each.value == said), None)


def requires_exactly_once(connector: Config) -> bool:
    """Return whether a source connector requires exactly-once delivery by Kafka Connect's key."""
    return (connector.get(EXACTLY_ONCE_SUPPORT) or "").strip().lower() == "required"


def guarantee_of_source(connector: Config, sources: ExactlyOnceSources) -> Guarantee:
    """Return the guarantee under which a source connector runs where these sources deliver exactly once."""
    chosen = chosen_guarantee(connector)
    if chosen is not None:
        return chosen
    if sources is ExactlyOnceSources.ALL or requires_exactly_once(connector):
        return Guarantee.EXACTLY_ONCE
    return Guarantee.AT_LEAST_ONCE


def guarantee_of_sink(connector: Config) -> Guarantee:
    """Return the guarantee under which a sink connector runs."""
    return chosen_guarantee(connector) or Guarantee.AT_LEAST_ONCE


def transactional_id(group: str, connector: str, task: int) -> str:
    """Return the transactional id of a task's producer; that of a source task is Kafka Connect's."""
    return f"{group}-{connector}-{task}"
