"""Which former tasks of an exactly-once source are fenced before its newest ones may begin (KIP-618)."""

from __future__ import annotations

from dataclasses import dataclass

from copycat_connect.cluster import Config

from copycat_config.domain.commands import RecordFencing
from copycat_config.domain.state import ConfigState
from copycat_config.domain.views import get_connector


@dataclass(frozen=True, slots=True)
class Due:
    """What one round of fencing does."""

    config: Config
    """The connector's configuration, as written: it says how Kafka is reached."""
    former: int
    """The tasks 0 to `former` - 1 are fenced."""
    record: RecordFencing
    """Noted after that."""


def fencing_due(state: ConfigState, connector: str) -> Due | None:
    """Return what is to be done before the newest tasks of a connector may begin; None for nothing.

    What is on record is the number of tasks that may have begun to write. One task alone needs no fencing by
    others: the next one begins with the same transactional id.

    Raises:
        UnknownConnectorError: It has no configuration.
    """
    config, facts = get_connector(state, connector).config, state.facts(connector)
    if not facts.pending_fencing:
        return None
    alone = facts.fenced == 1 and facts.size == 1
    record = RecordFencing(connector, facts.size, facts.task_generation)
    return Due(config, 0 if alone else facts.fenced or 0, record)
