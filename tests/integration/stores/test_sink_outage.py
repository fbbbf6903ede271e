"""A sink whose store is away for a while: it waits, goes back to what is committed, and loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.plugin import SinkTask
from copycat_testkit.conformance.contexts import FakeSinkContext
from copycat_testkit.hdfs import Hdfs
from copycat_testkit.s3 import S3Server

from tests.integration.stores.sinks import (
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
