"""One reader for each kind of record in the config topic, as tolerant and as strict as Kafka's own.

A reader takes what follows the key's prefix and the value; it raises `MalformedError` for what Kafka ignores.
"""

from __future__ import annotations

from copycat_connect.cluster import Config, TargetState
from copycat_eventlog.json_text import (
    INT32_MAX,
    MalformedError,
    read_integer,
    read_object,
    read_task_key,
    read_text,
)

from copycat_config.domain.events import (
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

#: A round of fencing asks Kafka about each task: a number that no cluster has would keep it busy for ever.
MAX_FENCED = 100_000


def connector(name: str, value: bytes | None) -> ConnectorConfigured | ConnectorRemoved:
    """Read a connector's configuration, or its removal."""
    return ConnectorRemoved(name) if value is None else ConnectorConfigured(name, _properties(value))


def target_state(name: str, value: bytes | None) -> TargetStateSet | TargetStateForgotten:
    """Read a target state; `state.v2` counts when it is text, for `state` cannot say STOPPED."""
    if value is None:
        return TargetStateForgotten(name)
    found = read_object(value)
    newer = found.get("state.v2")
    stated = newer if isinstance(newer, str) else read_text(found, "state")
    try:
        return TargetStateSet(name, TargetState(stated))
    except ValueError as error:
        raise MalformedError(f"{stated[:100]!r} is not a target state") from error


def task(name: str, value: bytes | None) -> TaskConfigured:
    """Read a task's configuration."""
    connector_name, index = read_task_key(name)
    return TaskConfigured(connector_name, index, _properties(_present(value)))


def commit(name: str, value: bytes | None) -> TaskSetCommitted:
    """Read the end of a task set."""
    return TaskSetCommitted(name, _count(value, "tasks"))


def fencing(name: str, value: bytes | None) -> TasksFenced:
    """Read how many tasks were fenced."""
    return TasksFenced(name, _count(value, "task-count", MAX_FENCED))


def restart(name: str, value: bytes | None) -> RestartRequested:
    """Read a restart request; a flag that is missing or not a boolean is false."""
    found = read_object(_present(value))
    return RestartRequested(name, found.get("include-tasks") is True, found.get("only-failed") is True)


def logger_level(name: str, value: bytes | None) -> LoggerLevelSet:
    """Read a cluster-wide log level."""
    return LoggerLevelSet(name, read_text(read_object(_present(value)), "level"))


def session_key(value: bytes | None) -> SessionKeySet:
    """Read a session key."""
    found = read_object(_present(value))
    created_ms = read_integer(found, "creation-timestamp")
    return SessionKeySet(read_text(found, "key"), read_text(found, "algorithm"), created_ms)


def _present(value: bytes | None) -> bytes:
    if value is None:
        raise MalformedError("a record of this kind has no tombstone")
    return value


def _properties(value: bytes) -> Config:
    properties = read_object(value).get("properties")
    if not isinstance(properties, dict):
        raise MalformedError("field 'properties' is not a map")
    for key, text in properties.items():
        if text is not None and not isinstance(text, str):
            raise MalformedError(f"property {key[:100]!r} is neither text nor null")
    return properties


def _count(value: bytes | None, field: str, most: int = INT32_MAX) -> int:
    count = read_integer(read_object(_present(value)), field)
    if not 0 <= count <= most:
        raise MalformedError(f"field {field!r} is not a number of tasks")
    return count
