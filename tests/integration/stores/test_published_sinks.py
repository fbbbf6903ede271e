"""The published HDFS and S3 sinks' configurations: names, folders, what ends files, what a restart does."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from copycat_connect.plugin import CONNECTORS, ExactlyOnceSupport, load_plugins
from copycat_testkit.hdfs import Hdfs
from copycat_testkit.s3 import S3Server

from tests.integration.stores.sinks import (
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
