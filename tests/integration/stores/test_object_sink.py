"""The object sinks on real stores: killed after any call, as published, and while a store is away."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from copycat_connect.data import ConnectValue
from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.plugin import CONNECTORS, ExactlyOnceSupport, PluginSpec, SinkTask, load_plugins
from copycat_testkit.conformance import ExactlyOnceSinkConformance, SinkConformance
from copycat_testkit.conformance.contexts import FakeSinkContext
from copycat_testkit.conformance.exactly_once_sink import CALLS
from copycat_testkit.hdfs import Hdfs
from copycat_testkit.s3 import S3Server
from copycat_testkit.sampling import sampled

from tests.integration.stores.sinks import (
    COUNTRIES,
    HOUR,
    PARTITION,
    batch,
    content,
    end,
    place_in_hdfs,
    place_in_s3,
    row,
    rows,
    start,
    store_at,
)
from tests.integration.stores.test_s3 import client

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

SPEC = load_plugins().find("ObjectSink", CONNECTORS)


class _OnAServer(ExactlyOnceSinkConformance):
    """JSON lines, a file for each record."""

    place: Mapping[str, str]

    def spec(self) -> PluginSpec:
        return SPEC

    def config(self) -> Mapping[str, str]:
        return {"topics": "conformance", "flush.size": "1", **self.place}

    def value(self, number: int) -> ConnectValue:
        return {"number": number, "text": "é😀"}

    def written(self) -> Sequence[ConnectValue]:
        found = content(store_at(self.place), "topics/conformance/partition=0")
        return [json.loads(line) for path in sorted(found) for line in found[path].splitlines()]

    @pytest.mark.parametrize("last", sampled(range(CALLS), keep=4))
    def test_killed_between_any_two_calls_it_resumes_without_loss_or_repetition(self, last: int) -> None:
        """All calls are tried in a folder (`tests/conformance`); here most of them in the long run only."""
        super().test_killed_between_any_two_calls_it_resumes_without_loss_or_repetition(last)


class TestOnHdfs(_OnAServer):
    @pytest.fixture(autouse=True)
    def _use(self, hdfs: Hdfs) -> None:
        self.place = place_in_hdfs(hdfs)


class TestOnS3(_OnAServer):
    @pytest.fixture(autouse=True)
    def _use(self, s3: S3Server) -> None:
        self.place = place_in_s3(s3)


class TestPublishedS3(SinkConformance):
    """Objects appear in their place, and the consumer group says where to go on."""

    @pytest.fixture(autouse=True)
    def _use(self, s3: S3Server) -> None:
        self.place = place_in_s3(s3)

    def spec(self) -> PluginSpec:
        return load_plugins().find("S3Sink", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        return {"topics": "conformance", "flush.size": "1", "format.class": "json", **self.place}

    def value(self, number: int) -> ConnectValue:
        return {"number": number}

    def written(self) -> Sequence[ConnectValue]:
        found = content(store_at(self.place), "topics/conformance/partition=0")
        return [json.loads(line) for path in sorted(found) for line in found[path].splitlines()]


@pytest.fixture(params=["folder", "hdfs", "s3"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    match request.param:
        case "folder":
            return {"store.url": tmp_path_factory.mktemp("sink").as_uri()}
        case "hdfs":
            return place_in_hdfs(request.getfixturevalue("hdfs"))
    return place_in_s3(request.getfixturevalue("s3"))


@pytest.mark.parametrize("kind", ["json", "avro", "parquet"])
def test_files_of_several_folders_appear_together_and_a_new_task_goes_on(
    place: Mapping[str, str], kind: str
) -> None:
    config = {
        **place,
        "format.class": kind,
        "flush.size": "6",
        "partitioner.class": "field",
        "partition.field.name": "country",
    }
    store = store_at(place)
    task, _ = start(config)
    task.put(batch(range(10)))
    assert not content(store, "topics/orders"), "nothing is seen before it is complete"
    assert task.pre_commit({PARTITION: 10}) == {PARTITION: 6}
    task.close([PARTITION])
    task.stop()
    task, context = start(config)
    assert context.seeks == {PARTITION: 6}
    task.put(batch(range(4, 12)))
    assert task.pre_commit({PARTITION: 12}) == {PARTITION: 12}
    task.close([PARTITION])
    task.stop()
    found = {path: rows(path, data) for path, data in content(store, "topics/orders").items()}
    assert found == {
        f"topics/orders/country={name or 'null'}/orders+3+{first:010d}+{first + 3:010d}.{kind}": [
            row(first), row(first + 3)
        ]
        for start_ in (0, 6)
        for first, name in zip(range(start_, start_ + 3), COUNTRIES, strict=True)
    }  # fmt: skip
    assert not content(store, "topics/+tmp"), "nothing is left behind"


def test_without_a_commit_log_the_names_of_files_say_where_to_go_on(place: Mapping[str, str]) -> None:
    config = {
        **place, "flush.size": "2", "partitioner.class": "daily", "timezone": "UTC",
        "timestamp.extractor": "Record",
    }  # fmt: skip
    store = store_at(place)
    task, _ = start(config)
    task.put(batch(range(23, 25)))
    task.pre_commit({PARTITION: 25})
    task.stop()
    assert sorted(content(store, "topics/orders")) == [
        "topics/orders/year=1970/month=01/day=01/orders+3+0000000023+0000000023.json",
        "topics/orders/year=1970/month=01/day=02/orders+3+0000000024+0000000024.json",
    ]
    for path in content(store, "logs"):
        store.delete(path)
    task, context = start(config)
    assert context.seeks == {PARTITION: 25}
    task.stop()


def test_records_that_a_user_goes_back_to_replace_their_files(place: Mapping[str, str]) -> None:
    config = {**place, "flush.size": "2"}
    store = store_at(place)
    for _ in range(2):
        task, _ = start(config)
        task.put(batch(range(4)))
        assert task.pre_commit({PARTITION: 4}) == {PARTITION: 4}
        task.stop()
        whole = {"name": "export", "topics": "orders", **config}
        assert SPEC.make().alter_offsets(whole, {PARTITION: 0})
    found = content(store, "topics/orders")
    assert [json.loads(line) for path in sorted(found) for line in found[path].splitlines()] == [
        row(number) for number in range(4)
    ]


HDFS = "io.confluent.connect.hdfs.HdfsSinkConnector"
S3 = "io.confluent.connect.s3.S3SinkConnector"
_PARTITIONERS = "io.confluent.connect.storage.partitioner"
HOURLY = {
    "partitioner.class": f"{_PARTITIONERS}.HourlyPartitioner",
    "timestamp.extractor": f"{_PARTITIONERS}.TimeBasedPartitioner$RecordTimestampExtractor",
    "path.format": "'year'=YYYY",
    "locale": "en-US",
    "timezone": "UTC",
}


@pytest.fixture
def bucket(s3: S3Server) -> Mapping[str, str]:
    return {**place_in_s3(s3), "storage.class": "io.confluent.connect.s3.storage.S3Storage"}


@pytest.fixture
def folder(hdfs: Hdfs) -> Mapping[str, str]:
    return place_in_hdfs(hdfs, "hdfs.url")


@pytest.mark.parametrize(
    ("name", "end_of_name"),
    [
        ("io.confluent.connect.s3.format.avro.AvroFormat", ".avro"),
        ("io.confluent.connect.s3.format.json.JsonFormat", ".json.gz"),
        ("io.confluent.connect.s3.format.parquet.ParquetFormat", ".snappy.parquet"),
    ],
)
def test_objects_have_the_name_of_their_first_record(
    bucket: Mapping[str, str], name: str, end_of_name: str
) -> None:
    config = {**bucket, "flush.size": "3", "format.class": name, "s3.compression.type": "gzip"}
    task, _ = start(config, S3)
    task.put(batch(range(5, 12)))
    assert task.pre_commit({PARTITION: 12}) == {PARTITION: 11}
    end(task)
    assert sorted(content(store_at(bucket), "")) == [
        f"topics/orders/partition=3/orders+3+{first:010d}{end_of_name}" for first in (5, 8)
    ]


def test_objects_of_an_hour_end_with_it_and_are_written_again_under_their_names(
    bucket: Mapping[str, str],
) -> None:
    config = {
        **bucket, **HOURLY, "flush.size": "100", "rotate.interval.ms": str(HOUR),
        "format.class": "io.confluent.connect.s3.format.json.JsonFormat",
    }  # fmt: skip
    found = []
    for split in (3, 2):  # the second time from the start, as after a crash before the group's commit
        task, context = start(config, S3)
        assert context.seeks == {}
        task.put(batch(range(split)))
        task.put(batch(range(split, 5)))
        assert task.pre_commit({PARTITION: 5}) == {PARTITION: 4}
        end(task)
        found.append(content(store_at(bucket), ""))
    assert found[0] == found[1]
    day = "topics/orders/year=1970/month=01/day=01"
    assert {path: rows(path, data) for path, data in found[0].items()} == {
        f"{day}/hour={number:02d}/orders+3+{number:010d}.json": [row(number)] for number in range(4)
    }


def test_objects_are_kept_by_the_keys_about_encryption(bucket: Mapping[str, str], s3: S3Server) -> None:
    task, _ = start({**bucket, "flush.size": "1", "s3.ssea.name": "AES256", "s3.acl.canned": "private"}, S3)
    task.put(batch([0]))
    end(task)
    place = {"Bucket": bucket["s3.bucket.name"], "Key": "topics/orders/partition=3/orders+3+0000000000.avro"}
    assert client(s3).head_object(**place)["ServerSideEncryption"] == "AES256"


def test_exactly_once_is_not_what_the_published_one_can_do_in_s3(bucket: Mapping[str, str]) -> None:
    connector = load_plugins().find(S3, CONNECTORS).make()
    config = {**bucket, "name": "export", "flush.size": "1"}
    assert connector.exactly_once_support(config) is ExactlyOnceSupport.UNSUPPORTED
    assert connector.alter_offsets(config, {PARTITION: 7})


def test_files_in_hdfs_have_the_published_names_and_their_next_writer_goes_on(
    folder: Mapping[str, str],
) -> None:
    config = {
        **folder, **HOURLY, "flush.size": "4", "logs.dir": "wal", "topics.dir": "export",
        "format.class": "io.confluent.connect.hdfs.parquet.ParquetFormat",
    }  # fmt: skip
    task, _ = start(config, HDFS)
    task.put(batch(range(6)))
    assert task.pre_commit({PARTITION: 6}) == {PARTITION: 4}
    end(task)
    store = store_at(folder)
    for path in content(store, "wal"):
        store.delete(path)  # as the published one leaves it, with a log of its own
    task, context = start(config, HDFS)
    assert context.seeks == {PARTITION: 4}
    end(task)
    day = "export/orders/year=1970/month=01/day=01"
    assert {path: rows(path, data) for path, data in content(store, "export").items()} == {
        f"{day}/hour={number:02d}/orders+3+{number:010d}+{number:010d}.parquet": [row(number)]
        for number in range(4)
    }


JSON = {"flush.size": "2", "format.class": "json", "retry.backoff.ms": "0"}


def put_while_away(task: SinkTask, context: FakeSinkContext, committed: int) -> None:
    """Have a task try while its store is away: it says from where it wants its records again."""
    context.seeks.clear()
    task.put(batch(range(committed, committed + 4)))
    assert context.seeks == {PARTITION: committed}


def test_a_server_of_s3_that_ends_and_begins_again_gets_every_record(tmp_path: Path) -> None:
    with S3Server(tmp_path / "log") as s3:
        place = place_in_s3(s3)
        task, context = start({**place, **JSON, "s3.part.retries": "0"}, "S3Sink")
        task.put(batch(range(1)))  # the first record of an object that is never complete
        s3.stop()
        context.seeks.clear()
        task.put(batch(range(1, 4)))
        assert context.seeks == {PARTITION: 0}
        assert task.pre_commit({PARTITION: 4}) in ({}, {PARTITION: 0})
        s3.start()  # what it held is gone with it: its bucket, and no record
        bucket = {"LocationConstraint": "us-west-2"}
        client(s3).create_bucket(Bucket=place["s3.bucket.name"], CreateBucketConfiguration=bucket)
        task.put(batch(range(4)))
        assert task.pre_commit({PARTITION: 4}) == {PARTITION: 4}
        end(task)
        found = content(store_at(place), "topics")
        assert [each for path in sorted(found) for each in rows(path, found[path])] == [
            row(number) for number in range(4)
        ]


def test_a_name_node_that_is_away_between_files_and_their_commit_loses_nothing(hdfs: Hdfs) -> None:
    place = place_in_hdfs(hdfs, "hdfs.url")
    task, context = start({**place, **JSON}, "HdfsSink")
    task.put(batch(range(2)))
    assert task.pre_commit({PARTITION: 2}) == {PARTITION: 2}
    task.put(batch(range(2, 4)))
    hdfs.kill()
    try:
        with pytest.raises(ConnectError) as away:
            task.pre_commit({PARTITION: 4})
        assert isinstance(away.value, RetriableError)
        with pytest.raises(RetriableError):
            task.put(batch(range(4, 6)))
    finally:
        hdfs.start()
    context.seeks.clear()
    task.put(batch(range(4, 6)))
    assert context.seeks == {PARTITION: 2}, "the files that were not committed are written anew"
    task.put(batch(range(2, 6)))
    assert task.pre_commit({PARTITION: 6}) == {PARTITION: 6}
    end(task)
    found = content(store_at(place), "topics/orders")
    assert [each for path in sorted(found) for each in rows(path, found[path])] == [
        row(number) for number in range(6)
    ]
