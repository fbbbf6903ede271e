"""Events as records of Kafka Connect's config topic, and back (`ConfigCodec`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, assert_never

from copycat_connect.cluster import TargetState
from copycat_eventlog.json_text import MalformedError, read_key, write_json
from copycat_eventlog.log import Record

from copycat_config.adapters import readers
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

Reader = Callable[[str, bytes | None], ConfigEvent]

SESSION_KEY = "session-key"
READERS: tuple[tuple[str, Reader], ...] = (
    ("target-state-", readers.target_state),
    ("connector-", readers.connector),
    ("task-", readers.task),
    ("commit-", readers.commit),
    ("restart-connector-", readers.restart),
    ("tasks-fencing-", readers.fencing),
    ("logger-cluster-", readers.logger_level),
)
"""What follows a key's prefix is a name; prefixes are tried in Kafka's order."""


class ConfigCodec:
    """Writes and reads what Kafka Connect does; what it passes over changes nothing."""

    forgets_unreadable: Final = False

    def encode(self, event: ConfigEvent) -> Record:
        """Return the record that states the event."""
        key, value = _write(event)
        return Record(key.encode(), value)

    def decode(self, record: Record) -> ConfigEvent:
        """Return the event a record states.

        Raises:
            MalformedError: It is of an unknown kind, or not what its kind is.
        """
        key, value = read_key(record.key), record.value
        if key == SESSION_KEY:
            return readers.session_key(value)
        for prefix, reader in READERS:
            if key.startswith(prefix):
                return reader(key.removeprefix(prefix), value)
        raise MalformedError("no such kind of record")


def _write(event: ConfigEvent) -> tuple[str, bytes | None]:
    match event:
        case ConnectorRemoved(name):
            return f"connector-{name}", None
        case TargetStateForgotten(name):
            return f"target-state-{name}", None
        case RestartRequested() | LoggerLevelSet() | TasksFenced() | SessionKeySet():
            key, fields = _rare(event)
        case _:
            key, fields = _usual(event)
    return key, write_json(fields)


def _usual(
    event: ConnectorConfigured | TaskConfigured | TaskSetCommitted | TargetStateSet,
) -> tuple[str, dict[str, Any]]:
    match event:
        case ConnectorConfigured(name, config):
            return f"connector-{name}", {"properties": dict(config)}
        case TaskConfigured(name, index, config):
            return f"task-{name}-{index}", {"properties": dict(config)}
        case TaskSetCommitted(name, count):
            return f"commit-{name}", {"tasks": count}
        case TargetStateSet(name, target):
            return f"target-state-{name}", _target(target)
        case _:
            assert_never(event)


def _rare(
    event: RestartRequested | LoggerLevelSet | TasksFenced | SessionKeySet,
) -> tuple[str, dict[str, Any]]:
    match event:
        case RestartRequested(name, include_tasks, only_failed):
            return f"restart-connector-{name}", {"include-tasks": include_tasks, "only-failed": only_failed}
        case LoggerLevelSet(logger, level):
            return f"logger-cluster-{logger}", {"level": level}
        case TasksFenced(name, count):
            return f"tasks-fencing-{name}", {"task-count": count}
        case SessionKeySet(key, algorithm, created_ms):
            return SESSION_KEY, {"key": key, "algorithm": algorithm, "creation-timestamp": created_ms}
        case _:
            assert_never(event)


def _target(target: TargetState) -> dict[str, Any]:
    """Workers older than `state.v2` know no STOPPED and take it for PAUSED."""
    old = TargetState.PAUSED if target is TargetState.STOPPED else target
    return {"state": old.value, "state.v2": target.value}
