"""Tasks of the JDBC source that read in a test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from copycat_connect.data import SourceRecord, Struct
from copycat_connect.plugin import SourceConnector
from copycat_jdbc.source.connector import JdbcSourceConnector
from copycat_jdbc.source.task import JdbcSourceTask
from copycat_testkit.conformance import FakeConnectorContext, FakeSourceContext
from copycat_testkit.kafka import wait_until

from tests.integration.plugins.jdbc_tables import Place

Stored = tuple[dict[str, Any], dict[str, Any]]


def config(place: Place, **more: str) -> dict[str, str]:
    """Return the keys of a connector that looks often; `a_b` stands for the key `a.b`."""
    return {
        **place.config,
        "topic.prefix": "db-",
        "poll.interval.ms": "20",
        "connection.backoff.ms": "50",
        **{key.replace("_", "."): value for key, value in more.items()},
    }


def divided(
    settings: Mapping[str, str], limit: int = 1, connector: SourceConnector | None = None
) -> list[dict[str, str]]:
    """Return the tasks' configurations."""
    made = connector or JdbcSourceConnector()
    made.initialize(FakeConnectorContext())
    made.start(settings)
    try:
        return [dict(each) for each in made.task_configs(limit)]
    finally:
        made.stop()


def started(task_config: Mapping[str, str], *stored: Stored) -> JdbcSourceTask:
    """Start a task where offsets are stored."""
    context = FakeSourceContext(task_config)
    for partition, offset in stored:
        context.store(partition, offset)
    task = JdbcSourceTask()
    task.initialize(context)
    task.start(task_config)
    return task


def read(task: JdbcSourceTask, count: int) -> list[SourceRecord]:
    """Return so many records, or a few more."""
    records: list[SourceRecord] = []

    def enough() -> bool:
        records.extend(task.poll() or ())
        return len(records) >= count

    wait_until(enough, 60, f"{count} records")
    return records


def values(records: list[SourceRecord], field: str) -> list[Any]:
    """Return a field of each record."""
    return [record.value[field] for record in records if isinstance(record.value, Struct)]


def stored_by(record: SourceRecord) -> Stored:
    """Return what is stored once a record is acknowledged."""
    assert record.source_partition is not None
    assert record.source_offset is not None
    return dict(record.source_partition), dict(record.source_offset)
