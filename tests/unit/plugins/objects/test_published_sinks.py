"""As the published HDFS and S3 sinks do it: their keys, and what a change of schema does to files."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path

import pytest
from copycat_connect.config import ConfigValue
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
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import CONNECTORS, SinkConnector, load_plugins
from copycat_objects.sink.connector import ObjectSinkConnector
from copycat_objects.stores.opening import web_address
from copycat_objects.task import ObjectSinkTask
from copycat_testkit.conformance.contexts import FakeSinkContext

HDFS = "io.confluent.connect.hdfs.HdfsSinkConnector"
S3 = "io.confluent.connect.s3.S3SinkConnector"
KERBEROS = "hdfs.authentication.kerberos"
ORC = "io.confluent.connect.hdfs.orc.OrcFormat"
VALID: Mapping[str, Mapping[str, str]] = {
    HDFS: {"hdfs.url": "hdfs://namenode:9000", "flush.size": "3"},
    S3: {"s3.bucket.name": "warehouse", "flush.size": "3"},
}
_NO_SCHEMAS = "Hive Integration requires schema compatibility to be BACKWARD, FORWARD or FULL"


def connector(sink: str) -> SinkConnector:
    """Return a connector that was not started."""
    made: SinkConnector = load_plugins().find(sink, CONNECTORS).make()
    return made


def wrong(sink: str, change: Mapping[str, str]) -> list[ConfigValue]:
    """Return what is wrong with a configuration."""
    config = {"name": "export", "topics": "orders", **VALID[sink], **change}
    found = connector(sink).validate({key: value for key, value in config.items() if value}) or []
    return [value for value in found if value.errors]


@pytest.mark.parametrize("sink", VALID)
def test_what_the_published_one_needs_is_enough(sink: str) -> None:
    assert not wrong(sink, {})


@pytest.mark.parametrize(
    ("sink", "change", "key", "text"),
    [
        (
            HDFS,
            {"hdfs.url": ""},
            "hdfs.url",
            'Missing required configuration "hdfs.url"',
        ),
        (HDFS, {"flush.size": ""}, "flush.size", 'Missing required configuration "flush.size"'),
        (HDFS, {"hive.integration": "true"}, "schema.compatibility", _NO_SCHEMAS),
        (
            HDFS,
            {"hdfs.authentication.kerberos": "true"},
            "hdfs.authentication.kerberos",
            "Invalid value true",
        ),
        (
            HDFS,
            {"format.class": "io.confluent.connect.hdfs.orc.OrcFormat"},
            "format.class",
            "Invalid value io.",
        ),
        (S3, {"s3.bucket.name": ""}, "s3.bucket.name", 'Missing required configuration "s3.bucket.name"'),
        (
            S3,
            {"s3.part.size": "1"},
            "s3.part.size",
            "Invalid value 1 for configuration s3.part.size: Value",
        ),
        (S3, {"store.url": "hdfs://namenode"}, "store.url", "Invalid value for configuration store.url"),
        (S3, {"store.kafka.keys": "true"}, "store.kafka.keys", "Invalid value true for configuration store."),
        (S3, {"s3.sse.customer.key": "k"}, "s3.sse.customer.key", "Invalid value for configuration s3.sse."),
    ],
    ids=lambda part: part if isinstance(part, str) and "." in part and " " not in part else "",
)
def test_what_is_wrong_is_told_at_its_key(sink: str, change: Mapping[str, str], key: str, text: str) -> None:
    (found,) = wrong(sink, change)
    assert found.name == key
    assert found.errors[0].startswith(text)


def test_a_secret_that_is_refused_is_not_shown() -> None:
    (found,) = wrong(S3, {"s3.sse.customer.key": "s3cret"})
    assert "s3cret" not in str(found.errors)


@pytest.mark.parametrize(
    ("sink", "key", "value"), [(HDFS, "hive.database", "sales"), (S3, "s3.wan.mode", "true")]
)
def test_keys_that_do_nothing_are_taken_and_told(
    sink: str, key: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        connector(sink).start({"name": "export", "topics": "orders", **VALID[sink], key: value})
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["export"]
    assert f"'{key}' has no effect" in caplog.text


def test_keys_of_nobody_are_taken() -> None:
    assert not wrong(HDFS, {"confluent.license": "none"})


def test_hadoops_own_files_tell_where_the_web_interface_is(tmp_path: Path) -> None:
    assert web_address(str(tmp_path)) is None
    (tmp_path / "hdfs-site.xml").write_text(
        "<configuration><property><name>dfs.namenode.http-address</name><value> namenode:9871 </value>"
        "</property></configuration>"
    )
    assert web_address(str(tmp_path)) == "http://namenode:9871"
    (tmp_path / "hdfs-site.xml").write_text("<configuration>")
    with pytest.raises(ConfigError, match=r"hadoop\.conf\.dir: .*hdfs-site\.xml cannot be read"):
        web_address(str(tmp_path))


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
