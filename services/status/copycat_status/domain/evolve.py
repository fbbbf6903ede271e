"""One step of the fold: Kafka's reader rules for the status topic.

The topic's partitions are read in no particular order, so nothing here may depend on the order of different
keys. Kafka drops a connector's tasks with its tombstone; here each stays until its own, hidden by the views.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from copycat_connect.cluster import Instance

from copycat_status.domain.events import StatusEvent, StatusForgotten, StatusSet, TopicActive, TopicForgotten
from copycat_status.domain.state import NOTHING, ActiveTopic, StatusFacts, StatusState
from copycat_status.domain.status import State, Status


def evolve(state: StatusState, event: StatusEvent) -> StatusState:
    """Return the state after the event; touches only what its key names."""
    match event:
        case StatusSet(instance, status):
            name = instance.connector
            facts = _with_status(state.facts(name), instance, status)
        case StatusForgotten(instance):
            name = instance.connector
            facts = _without_status(state.facts(name), instance)
        case TopicActive(topic, name, task, discovered_ms):
            facts = state.facts(name)
            facts = replace(facts, topics=facts.topics.set(topic, ActiveTopic(task, discovered_ms)))
        case TopicForgotten(topic, name):
            facts = state.facts(name)
            if topic in facts.topics:
                facts = replace(facts, topics=facts.topics.delete(topic))
        case _:
            assert_never(event)
    return _with_facts(state, name, facts)


def _with_status(facts: StatusFacts, instance: Instance, status: Status) -> StatusFacts:
    if instance.task is None:
        return replace(facts, status=status)
    known = facts.tasks.get(instance.task)
    if known is not None and is_late(status, known):
        return facts
    return replace(facts, tasks=facts.tasks.set(instance.task, status))


def is_late(status: Status, known: Status) -> bool:
    """Say whether a task's UNASSIGNED comes from a worker that has lost it to the one that runs it.

    Kafka also takes it for late when the running worker itself says so in the same generation. That is what
    a worker says when it shuts down, and newer than its RUNNING.
    """
    if status.state is not State.UNASSIGNED or known.state is not State.RUNNING:
        return False
    return known.generation > status.generation or (
        known.generation == status.generation and known.worker_id != status.worker_id
    )


def _without_status(facts: StatusFacts, instance: Instance) -> StatusFacts:
    if instance.task is None:
        return replace(facts, status=None)
    if instance.task not in facts.tasks:
        return facts
    return replace(facts, tasks=facts.tasks.delete(instance.task))


def _with_facts(state: StatusState, connector: str, facts: StatusFacts) -> StatusState:
    if facts != NOTHING:
        return StatusState(state.connectors.set(connector, facts))
    return StatusState(state.connectors.delete(connector)) if connector in state.connectors else state
