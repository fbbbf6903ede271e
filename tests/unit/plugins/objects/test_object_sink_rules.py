"""The rules of the object sink: names and ends of files, records it cannot write, stores that are full."""

from __future__ import annotations

import errno
import gzip
import math
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from shutil import rmtree

import pytest
from botocore.exceptions import ClientError
from copycat_connect.data import ConnectValue, SinkBatch, SinkRecord, TopicPartition
from copycat_connect.errors import ConfigError, ConnectError, DataError
from copycat_connect.failure_kind import FailureKind, kind_of
from copycat_connect.plugin import CONNECTORS, PluginSpec, SinkTask, load_plugins
from copycat_objects.partitioners.path_format import PathFormat
from copycat_objects.partitioners.times import millis_of
from copycat_objects.settings import Rotation
from copycat_objects.sink.connector import ObjectSinkConnector
from copycat_objects.stores import s3_failures
from copycat_objects.stores.errors import StoreFullError
from copycat_objects.stores.local import LocalStore
from copycat_objects.task import ObjectSinkTask
from copycat_testkit.conformance.contexts import FakeSinkContext

SPEC = load_plugins().find("ObjectSink", CONNECTORS)
PARTITION = TopicPartition("orders", 0)
TIME = datetime(2026, 3, 5, 17, 4, 9, 120_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("'year'=YYYY/'month'=MM/'day'=dd/'hour'=HH", "year=2026/month=03/day=05/hour=17"),
        ("yy-M-d h:mm a", "26-3-5 5:04 PM"),
        ("EEE MMMM ss.SSS", "Thu March 09.120"),
        ("''dd''", "'05'"),
        ("/yyyy/MM/", "2026/03"),
    ],
)
def test_a_path_format_writes_times(pattern: str, text: str) -> None:
    assert PathFormat(pattern).text(TIME) == text


@pytest.mark.parametrize("pattern", ["'open", "QQ", "/", "YYYY//MM", "'..'/dd", "YYYY/'.'"])
def test_a_path_format_that_is_none_is_refused(pattern: str) -> None:
    with pytest.raises(ConfigError, match=r"path\.format"):
        PathFormat(pattern)


def test_an_interval_ends_before_the_first_record_that_is_as_late() -> None:
    rotation = Rotation(records=100, interval=1000)
    assert rotation.cut([0, 999, 1000, 5], 0, 4, None) == 2
    assert rotation.cut([1500, 2000], 0, 2, 1000) == 1
    assert rotation.deadline(50.0) == 51.0


def test_a_schedule_counts_from_midnight() -> None:
    rotation = Rotation(records=100, schedule=3_600_000, zone=UTC)
    assert rotation.deadline(TIME.timestamp()) == datetime(2026, 3, 5, 18, tzinfo=UTC).timestamp()


def start(folder: Path, **config: str) -> tuple[SinkTask, FakeSinkContext]:
    whole = {
        "name": "export", "topics": "orders", "store.url": folder.as_uri(), "flush.size": "3",
        **{key.replace("_", "."): value for key, value in config.items()},
    }  # fmt: skip
    context = FakeSinkContext(whole, [PARTITION])
    task: SinkTask = SPEC.make_task()
    task.initialize(context)
    task.start(whole)
    task.open([PARTITION])
    return task, context


def batch(*values: ConnectValue, first: int = 0) -> SinkBatch:
    return SinkBatch.of(
        [SinkRecord("orders", 0, first + place, value=value) for place, value in enumerate(values)]
    )


def files(folder: Path) -> Mapping[str, bytes]:
    found = (folder / "topics/orders").rglob("*.*")
    return {str(file.relative_to(folder / "topics/orders")): file.read_bytes() for file in found}


def test_lines_of_text_are_compressed(tmp_path: Path) -> None:
    task, _ = start(tmp_path, format_class="string", compression_type="gzip")
    task.put(batch("a", "b", "c"))
    task.pre_commit({PARTITION: 3})
    task.stop()
    (path, content), *others = files(tmp_path).items()
    assert path == "partition=0/orders+0+0000000000+0000000002.txt.gz"
    assert gzip.decompress(content) == b"a\nb\nc\n"
    assert not others


def test_records_that_cannot_be_written_are_reported_and_left_out(tmp_path: Path) -> None:
    task, context = start(tmp_path, format_class="string")
    task.put(batch("a", None, 7, "b", "c"))
    assert task.pre_commit({PARTITION: 5}) == {PARTITION: 5}
    task.stop()
    reported = context.errant_record_reporter.reported
    assert [record.original_offset for record, _ in reported] == [1, 2]
    assert files(tmp_path) == {"partition=0/orders+0+0000000000+0000000004.txt": b"a\nb\nc\n"}


def test_files_are_complete_by_their_bytes(tmp_path: Path) -> None:
    task, _ = start(tmp_path, format_class="string", flush_size="1000000", flush_bytes="10000")
    for first in range(0, 100, 10):
        task.put(batch(*["x" * 499] * 10, first=first))  # 5,000 bytes with the ends of lines
    assert task.pre_commit({PARTITION: 100}) == {PARTITION: 100}
    task.stop()
    assert sorted(map(len, files(tmp_path).values())) == [10_000] * 5


@pytest.mark.row("K26-15")
@pytest.mark.parametrize(("kind", "name"), [("avro", "Avro"), ("parquet", "Parquet")])
def test_a_format_that_needs_a_schema_refuses_a_record_without_one(
    tmp_path: Path, kind: str, name: str
) -> None:
    task, context = start(tmp_path, format_class=kind)
    task.put(batch({"id": 1}, "text"))
    task.stop()
    reported = context.errant_record_reporter.reported
    assert [record.original_offset for record, _ in reported] == [0, 1]
    for _, error in reported:
        assert isinstance(error, DataError)
        assert str(error).startswith(
            f"{name} files need values with a schema: use a converter that gives one"
        )


def test_a_folder_that_would_lead_out_of_that_of_the_topic_is_refused(tmp_path: Path) -> None:
    task, context = start(
        tmp_path, **{"partitioner.class": "field", "partition.field.name": "to", "flush.size": "1"}
    )
    task.put(batch({"to": "x/../../../out"}, {"to": "in"}))
    task.pre_commit({PARTITION: 2})
    task.stop()
    assert [record.original_offset for record, _ in context.errant_record_reporter.reported] == [0]
    assert list(files(tmp_path)) == ["to=in/orders+0+0000000001+0000000001.json"]


def test_a_task_whose_partition_was_taken_fails_and_does_not_take_it_back(tmp_path: Path) -> None:
    old, _ = start(tmp_path)
    old.put(batch("a", "b", "c"))
    new, _ = start(tmp_path)
    with pytest.raises(ConnectError, match="Another task or connector"):
        old.pre_commit({PARTITION: 3})
    with pytest.raises(ConnectError, match="Another task or connector"):
        old.put(batch("d", first=3))
    new.put(batch("a", "b", "c"))
    assert new.pre_commit({PARTITION: 3}) == {PARTITION: 3}
    for task in (old, new):
        task.stop()
    assert len(files(tmp_path)) == 1


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"store.url": "ftp://host/folder"}, "store.url"),
        ({"partitioner.class": "daily"}, "timezone"),
        ({"partitioner.class": "field"}, "partition.field.name"),
        ({"format.class": "orc"}, "format.class"),
        ({"flush.size": "0"}, "flush.size"),
    ],
)
def test_what_is_wrong_in_a_configuration_is_told_at_its_key(change: Mapping[str, str], key: str) -> None:
    config = {"name": "export", "topics": "orders", "store.url": "file:///tmp/x", "flush.size": "3", **change}
    wrong = [value.name for value in SPEC.make().validate(config) if value.errors]
    assert wrong == [key]


TIMES: Mapping[str, str] = {
    "format_class": "json", "partitioner_class": "time", "path_format": "'d'=DD", "timezone": "UTC",
    "partition_duration_ms": "1000", "timestamp_extractor": "RecordField", "timestamp_field": "at.ms",
}  # fmt: skip


@pytest.mark.parametrize("at", [5.3e9 + 0.5, 5_300_000_000])
def test_a_time_may_be_any_number(tmp_path: Path, at: ConnectValue) -> None:
    task, context = start(tmp_path, **TIMES)
    task.put(batch(*[{"at": {"ms": at}}] * 3, {"at": {"ms": math.nan}}))
    task.pre_commit({PARTITION: 3})
    task.stop()
    assert [path.partition("/")[0] for path in files(tmp_path)] == ["d=62"]
    assert context.errant_record_reporter is not None
    assert len(context.errant_record_reporter.reported) == 1
    assert millis_of(Decimal("1.5")) == 1


def test_fields_of_folders_may_lie_in_others(tmp_path: Path) -> None:
    task, _ = start(tmp_path, partitioner_class="field", partition_field_name="a.b,c.d")
    task.put(batch(*[{"a": {"b": 1}, "c.d": "x", "c": {"d": "no"}}] * 3))
    task.pre_commit({PARTITION: 3})
    task.stop()
    (file,) = tmp_path.rglob("*.json")
    assert file.relative_to(tmp_path).as_posix().startswith("topics/orders/a.b=1/c.d=x/orders+0+")


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"path.format": "YYYY//MM"}, "path.format"),
        ({"path.format": "/"}, "path.format"),
        ({"behavior.on.null.values": "write", "format.class": "avro"}, "behavior.on.null.values"),
        ({"behavior.on.null.values": "write", "format.class": "parquet"}, "behavior.on.null.values"),
        ({"behavior.on.null.values": "write", "format.class": "string"}, "behavior.on.null.values"),
        (
            {"behavior.on.null.values": "write", "timestamp.extractor": "RecordField"},
            "behavior.on.null.values",
        ),
        ({"behavior.on.null.values": "write"}, None),
        ({"path.format": "/YYYY/"}, None),
    ],
)
def test_settings_of_folders_and_formats_are_proved_before_a_record_comes(
    tmp_path: Path, config: Mapping[str, str], key: str | None
) -> None:
    whole = {
        "name": "export", "topics": "orders", "store.url": tmp_path.as_uri(), "flush.size": "3",
        "partitioner.class": "time", "path.format": "YYYY", "timezone": "UTC",
        "partition.duration.ms": "1000",
        **config,
    }  # fmt: skip
    connector = SPEC.make()
    assert [value.name for value in connector.validate(whole) if value.errors] == ([key] if key else [])


@pytest.mark.parametrize("logged", [True, False], ids=["with a commit log", "in place, as in S3"])
def test_a_topic_made_anew_fails_the_task_whose_folder_has_files_of_the_former_one(
    tmp_path: Path, *, logged: bool
) -> None:
    config = {"name": "x", "topics": "orders", "store.url": tmp_path.as_uri(), "flush.size": "3"}
    task = ObjectSinkTask(lambda given: replace(ObjectSinkConnector.read(given), logged=logged))
    task.initialize(FakeSinkContext(config, [PARTITION]))
    task.start(config)
    task.open([PARTITION])
    task.put(batch("a", "b", "c"))
    task.pre_commit({PARTITION: 3})
    task.close([PARTITION])

    with pytest.raises(ConfigError, match=r"Topic orders was deleted and made anew.*topics\.dir"):
        task.made_anew([PARTITION])
    task.made_anew([TopicPartition("orders", 1), TopicPartition("others", 0)])  # of these there is nothing

    rmtree(tmp_path / "topics/orders")
    if logged:
        with pytest.raises(ConfigError, match="logs/orders/0 is of the former one"):
            task.made_anew([PARTITION])
        rmtree(tmp_path / "logs/orders")
    task.made_anew([PARTITION])
    task.stop()


WRITERS = {"object_sink": "sink", "s3_sink": "s3", "hdfs_sink": "hdfs", "hdfs_export": "kip26"}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_folder_is_a_full_store(number: int) -> None:
    failure = LocalStore(Path("/x")).failure(OSError(number, os.strerror(number)), "write a")
    assert isinstance(failure, StoreFullError)
    assert "make room there" in failure.message


def test_a_full_bucket_is_a_full_store() -> None:
    refused = ClientError({"Error": {"Code": "XMinioStorageFull"}}, "PutObject")
    failure = s3_failures.failed(refused, "write a", "s3://b")
    assert isinstance(failure, StoreFullError)
    assert "make room there" in failure.message


@pytest.mark.parametrize("writer", WRITERS)
def test_a_sink_of_a_store_declares_that_a_full_one_passes(writer: str) -> None:
    plugin: PluginSpec = import_module(f"copycat_objects.{WRITERS[writer]}.plugin").PLUGIN
    assert kind_of(StoreFullError("full"), plugin.failures) is FailureKind.RESOURCE
