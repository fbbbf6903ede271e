"""Turns events of the config topic into changes of a connector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from copycat_connect.cluster import Config, TargetState
from copycat_eventlog.past.change import CONFIG, TARGET_STATE, PastChange, fact_text
from copycat_eventlog.past.own_log import Describing

from copycat_config.domain.events import (
    ConfigEvent,
    ConnectorConfigured,
    ConnectorRemoved,
    LoggerLevelSet,
    RestartRequested,
    SessionKeySet,
    TargetStateForgotten,
    TargetStateSet,
    TaskConfigured,
    TaskSetCommitted,
    TasksFenced,
)
from copycat_config.domain.state import ConfigFacts, ConfigState

#: The history leaves these out: they follow from a configuration, or concern no connector.
NOT_IN_HISTORY: Final = (
    *(TaskConfigured, TaskSetCommitted, TasksFenced),
    *(RestartRequested, LoggerLevelSet, SessionKeySet),
)


def tell(event: ConfigEvent, before: ConfigState | None) -> Iterable[PastChange]:
    """Tell an event, given the state right before it where that is known."""
    match event:
        case ConnectorConfigured(name, config):
            return (_config(name, None if before is None else before.facts(name), config),)
        case ConnectorRemoved(name):
            return (_config(name, None if before is None else before.facts(name), None),)
        case TargetStateSet(name, target):
            return (_target(name, before, target),)
        case TargetStateForgotten(name) if before is None or before.facts(name).target is not None:
            return (_target(name, before, None),)
        case _:
            return ()


def _config(name: str, facts: ConfigFacts | None, config: Config | None) -> PastChange:
    """`deleted` and `created` say of themselves what was there before."""
    known = None if facts is None else facts.config
    what = "deleted" if config is None else "created" if facts is not None and known is None else "configured"
    return PastChange(0, name, CONFIG, what, "", _text(known), _text(config), before_known=facts is not None)


def _target(name: str, before: ConfigState | None, target: TargetState | None) -> PastChange:
    known = None if before is None else before.facts(name).target_in_force
    after = TargetState.STARTED if target is None else target
    return PastChange(
        0,
        name,
        TARGET_STATE,
        "target state set" if target is not None else "target state forgotten",
        "",
        None if known is None else fact_text(known.value),
        fact_text(after.value),
        before_known=before is not None,
    )


def _text(config: Config | None) -> str | None:
    return None if config is None else fact_text(dict(config))


def _concerns(key: bytes, connector: str) -> bool:
    name = connector.encode()
    return key in {b"connector-" + name, b"target-state-" + name}


TELLING: Final[Describing[ConfigEvent, ConfigState]] = Describing(
    tell, frozenset({CONFIG, TARGET_STATE}), NOT_IN_HISTORY, _concerns
)
