"""One step of the fold: Kafka's reader rules for the config topic, to the letter."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias, assert_never

from copycat_connect.cluster import Config
from immutables import Map

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
from copycat_config.domain.state import NOTHING, ConfigFacts, ConfigState

AboutConnector: TypeAlias = (
    ConnectorConfigured
    | ConnectorRemoved
    | TargetStateSet
    | TargetStateForgotten
    | TaskConfigured
    | TaskSetCommitted
    | TasksFenced
)


def evolve(state: ConfigState, event: ConfigEvent) -> ConfigState:
    """Return the state after the event; touches only the connector the event names."""
    if isinstance(event, RestartRequested | LoggerLevelSet | SessionKeySet):
        return state
    facts = _step(state.facts(event.connector), event)
    if facts == NOTHING:
        return ConfigState(_without(state.connectors, event.connector))
    return ConfigState(state.connectors.set(event.connector, facts))


def _step(facts: ConfigFacts, event: AboutConnector) -> ConfigFacts:
    match event:
        case ConnectorConfigured(_, config):
            after = replace(facts, config=config)
        case ConnectorRemoved():
            after = _removed(facts)
        case TargetStateSet(_, target):
            after = replace(facts, target=target)
        case TargetStateForgotten():
            after = replace(facts, target=None)
        case TaskConfigured(_, index, config):
            after = replace(facts, deferred=(facts.deferred or Map()).set(index, config))
        case TaskSetCommitted(_, count):
            after = _committed(facts, count)
        case TasksFenced(_, count):
            after = replace(facts, fenced=count, pending_fencing=False)
        case _:
            assert_never(event)
    return after


def _removed(facts: ConfigFacts) -> ConfigFacts:
    """Forget the connector; what must outlive it for a namesake stays."""
    return replace(
        facts, config=None, tasks=Map(), task_count=None, deferred=None, applied=None, orphaned=False
    )


def _committed(facts: ConfigFacts, count: int) -> ConfigFacts:
    if facts.config is None:
        # The set belonged to a deleted or overwritten configuration whose record compaction took away.
        return replace(_removed(facts), orphaned=True)
    closed = replace(
        facts, task_count=count, deferred=None if facts.deferred is None else Map(), pending_fencing=True
    )
    if not _complete(facts.deferred, count):
        return replace(closed, inconsistent=True)
    closed = replace(closed, applied=facts.config, inconsistent=False, orphaned=False)
    if facts.deferred is None:
        return closed
    generation = 0 if facts.task_generation is None else facts.task_generation + 1
    return replace(closed, tasks=facts.tasks.update(facts.deferred), task_generation=generation)


def _complete(deferred: Map[int, Config] | None, count: int) -> bool:
    """Return whether the waiting configurations cover the set; more than it needs are welcome."""
    known = deferred or Map()
    return len(known) >= count and all(index in known for index in range(count))


def _without(connectors: Map[str, ConfigFacts], connector: str) -> Map[str, ConfigFacts]:
    return connectors.delete(connector) if connector in connectors else connectors
