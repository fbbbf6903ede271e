"""What a change of schema does to the files of a topic-partition, as the published connectors do it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from copycat_connect.data import (
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    Schema,
    SchemaBuilder,
    SinkBatch,
    SinkRecord,
    Struct,
    TopicPartition,
)
from copycat_objects.sink.connector import ObjectSinkConnector
from copycat_objects.task import ObjectSinkTask
from copycat_testkit.conformance.contexts import FakeSinkContext

PARTITION = TopicPartition("orders", 0)


def order(version: int | None, **more: Schema) -> Schema:
    """Return a schema with an id and more fields."""
    builder = SchemaBuilder.struct().name("Order").field("id", INT64_SCHEMA)
    for name, schema in more.items():
        builder = builder.field(name, schema)
    return (builder if version is None else builder.version(version)).build()


V1 = order(1)
V2 = order(2, country=OPTIONAL_STRING_SCHEMA)
V2_REQUIRED = order(2, country=STRING_SCHEMA)
OTHER = SchemaBuilder.struct().name("Bill").version(1).field("id", INT64_SCHEMA).build()
WITHOUT_VERSION = order(None, country=OPTIONAL_STRING_SCHEMA)


def write(folder: Path, compatibility: str, *schemas: Schema | None) -> tuple[list[list[object]], list[str]]:
    """Write a record of each schema; returns the values of each file, and what was reported."""
    config = {
        "name": "export", "topics": "orders", "store.url": folder.as_uri(), "flush.size": "100",
        "schema.compatibility": compatibility, "rotate.schedule.interval.ms": "1000", "timezone": "UTC",
    }  # fmt: skip
    now = 0.0
    task = ObjectSinkTask(ObjectSinkConnector.read, lambda: now)
    context = FakeSinkContext(config, [PARTITION])
    task.initialize(context)
    task.start(config)
    task.open([PARTITION])
    records = []
    for offset, schema in enumerate(schemas):
        value: ConnectValue = {"id": offset}
        if schema is not None:
            country = {} if schema.field("country") is None else {"country": "FR"}
            value = Struct(schema, {"id": offset, **country})
        records.append(SinkRecord("orders", 0, offset, value=value, value_schema=schema))
    task.put(SinkBatch.of(records))
    now = 1.0
    task.put(SinkBatch.of([]))
    task.pre_commit({PARTITION: len(schemas)})
    task.stop()
    files = sorted((folder / "topics/orders").rglob("*.json"), key=lambda file: file.name)
    found = [[json.loads(line) for line in file.read_text().splitlines()] for file in files]
    return found, [str(error) for _, error in context.errant_record_reporter.reported]


def first(offset: int) -> dict[str, object]:
    """Return the value of an older record, as it is."""
    return {"id": offset}


def second(offset: int, country: str | None = "FR") -> dict[str, object]:
    """Return the value of a newer record."""
    return {"id": offset, "country": country}


@pytest.mark.parametrize(
    ("compatibility", "schemas", "files"),
    [
        ("NONE", (V1, V1, V2, V1), [[first(0), first(1)], [second(2)], [first(3)]]),
        ("BACKWARD", (V1, V2, V1), [[first(0)], [second(1), second(2, None)]]),
        ("FULL", (V1, V2, V1), [[first(0)], [second(1), second(2, None)]]),
        ("FORWARD", (V2, V1, V2), [[second(0)], [first(1), first(2)]]),
        ("BACKWARD", (V2_REQUIRED, V1), [[second(0)], [first(1)]]),
        ("BACKWARD", (V1, OTHER), [[first(0)], [first(1)]]),
    ],
    ids=["none", "backward", "full", "forward", "required field missing", "another name"],
)
def test_records_are_fitted_into_the_open_file_or_begin_another(
    tmp_path: Path, compatibility: str, schemas: tuple[Schema, ...], files: list[list[object]]
) -> None:
    assert write(tmp_path, compatibility, *schemas) == (files, [])


def test_a_change_to_values_without_schema_is_refused(tmp_path: Path) -> None:
    files, reported = write(tmp_path, "NONE", V1, None)
    assert files == [[first(0)]]
    assert reported == ["Switch between schema-based and schema-less data is not supported"]


def test_versions_are_needed_to_compare(tmp_path: Path) -> None:
    _, reported = write(tmp_path, "BACKWARD", V1, WITHOUT_VERSION)
    assert len(reported) == 1
    assert reported[0].startswith("Schema version required for 'schema.compatibility=BACKWARD'")
