"""What a command does to the log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

from copycat_connect.cluster import Instance

from copycat_status.domain.commands import (
    ForgetStatuses,
    Report,
    ReportStatuses,
    ReportTopics,
    ResetTopics,
    StatusCommand,
)
from copycat_status.domain.errors import InvalidTaskError, InvalidTopicError, UnnamedConnectorError
from copycat_status.domain.events import StatusEvent, StatusForgotten, StatusSet, TopicActive, TopicForgotten
from copycat_status.domain.evolve import is_late
from copycat_status.domain.state import StatusFacts, StatusState
from copycat_status.domain.status import Status

_INT32_MAX: Final = 2**31 - 1


def _check_connector(connector: str) -> None:
    """Refuse a report about nobody.

    Raises:
        UnnamedConnectorError: The name is empty.
    """
    if not connector:
        raise UnnamedConnectorError


def _check_task(task: int | None) -> None:
    """Refuse a number that cannot be the index of a task; None stands for the connector itself.

    Raises:
        InvalidTaskError: It is negative or beyond 32 bits.
    """
    if task is not None and not 0 <= task <= _INT32_MAX:
        raise InvalidTaskError(task)


def _check_topic(topic: str) -> None:
    """Refuse a topic name that Kafka refuses too, for the key could not be read back.

    Raises:
        InvalidTopicError: The name is empty or has a colon.
    """
    if not topic or ":" in topic:
        raise InvalidTopicError(topic)


def decide(command: StatusCommand, state: StatusState) -> tuple[StatusEvent, ...]:
    """Return the events the command causes, none when what it says is known or older than what is known.

    Raises:
        InvalidReportError: A name or index cannot be part of a record's key.
    """
    match command:
        case ReportStatuses(reports):
            return _report(reports, state)
        case ReportTopics():
            return _report_topics(command, state.facts(command.connector))
        case ForgetStatuses():
            return tuple(_forget(command, state.facts(command.connector)))
        case ResetTopics(connector, spared):
            return tuple(_reset(connector, spared, state.facts(connector)))
        case _:
            assert_never(command)


def _report(reports: tuple[Report, ...], state: StatusState) -> tuple[StatusEvent, ...]:
    """Write each instance's last accepted status, if it is news: the newest full fact about the key."""
    accepted: dict[Instance, Status] = {}
    for report in reports:
        _check_connector(report.instance.connector)
        _check_task(report.instance.task)
        known = accepted.get(report.instance) or state.status(report.instance)
        if known is None or stands(report, known):
            accepted[report.instance] = report.status
    return tuple(
        StatusSet(instance, status)
        for instance, status in accepted.items()
        if status != state.status(instance)
    )


def stands(report: Report, known: Status) -> bool:
    """Say whether a report may replace what is known.

    I2: not when it is of an older generation, which covers Kafka's safe put of UNASSIGNED and FAILED. What
    Kafka's reader would ignore is not written either.
    """
    if report.status.generation < known.generation:
        return False
    return report.instance.task is None or not is_late(report.status, known)


def _report_topics(command: ReportTopics, facts: StatusFacts) -> tuple[StatusEvent, ...]:
    _check_connector(command.connector)
    _check_task(command.task)
    for topic in command.topics:
        _check_topic(topic)
    return tuple(
        TopicActive(topic, command.connector, command.task, command.discovered_ms)
        for topic in dict.fromkeys(command.topics)
        if topic not in facts.topics
    )


def _forget(command: ForgetStatuses, facts: StatusFacts) -> Iterator[StatusEvent]:
    """Forget tasks before their connector, as Kafka does; topics last."""
    connector, spared = command.connector, command.spared
    tasks = {*command.tasks} & {*facts.tasks} if command.tasks else {*facts.tasks}
    instances = [Instance(connector, task) for task in sorted(tasks)]
    if not command.tasks and facts.status is not None:
        instances.append(Instance(connector))
    yield from (StatusForgotten(instance) for instance in instances if instance not in spared)
    if not command.tasks:
        yield from _reset(connector, command.spared_topics, facts)


def _reset(connector: str, spared: frozenset[str], facts: StatusFacts) -> Iterator[StatusEvent]:
    yield from (TopicForgotten(topic, connector) for topic in sorted({*facts.topics} - spared))
