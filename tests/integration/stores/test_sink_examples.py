"""The examples on the pages of the object sinks, run as written but for addresses and logins of servers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from copycat_connect.plugin import CONNECTORS, load_plugins
from copycat_objects.stores.opening import open_store
from copycat_objects.stores.store import Store
from copycat_testkit.hdfs import USER, Hdfs
from copycat_testkit.kafka import unique
from copycat_testkit.s3 import REGION, S3Server

from tests.integration.stores.sinks import PARTITION, batch, content, end, row, rows, start
from tests.integration.stores.test_s3 import client

pytestmark = pytest.mark.timeout(300)

SINKS = ("ObjectSink", "HdfsSink", "org.apache.kafka.copycat.HDFSSinkConnector", "S3Sink")
EXAMPLES = {
    f"{sink.rpartition('.')[2]}: {title}": (sink, example)
    for sink in SINKS
    for title, example in load_plugins().find(sink, CONNECTORS).examples.items()
}
BUCKET = "warehouse"
MANY = 1000
"""Records of a file of the examples that count them."""


@pytest.fixture
def warehouse(s3: S3Server) -> Iterator[S3Server]:
    """The bucket that the examples name, which is empty, and gone afterwards."""
    found = client(s3)
    with contextlib.suppress(found.exceptions.BucketAlreadyOwnedByYou):
        found.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    empty(s3)
    yield s3
    empty(s3)
    found.delete_bucket(Bucket=BUCKET)


def empty(s3: S3Server) -> None:
    """Delete what is in the bucket; an example of the source leaves something there."""
    found = client(s3)
    for each in found.list_objects_v2(Bucket=BUCKET).get("Contents", ()):
        found.delete_object(Bucket=BUCKET, Key=each["Key"])


def here(
    example: Mapping[str, str], request: pytest.FixtureRequest, folder: Path
) -> tuple[dict[str, str], Store]:
    """Return an example with the addresses of the tests' servers, and the store it writes to."""
    key = "hdfs.url" if "hdfs.url" in example else "store.url"
    address = example.get(key, "")
    if address.startswith("file:"):
        url = folder.as_uri()
        return {**example, key: url}, open_store({}, url)
    if address.startswith("hdfs:"):
        hdfs: Hdfs = request.getfixturevalue("hdfs")
        url = f"{hdfs.url}/{unique('example')}/{address.partition('://')[2].partition('/')[2]}"
        place = {"webhdfs.url": hdfs.web_url, "hdfs.user": USER}
        return {**example, **place, key: url}, open_store(place, url)
    s3: S3Server = request.getfixturevalue("warehouse")
    login = {"aws.access.key.id": "writer", "aws.secret.access.key": "any", "s3.region": REGION}
    where = {"s3.endpoint": s3.url} if address.startswith("s3:") else {"store.url": s3.url}
    told = {**login, "s3.bucket.name": BUCKET, "s3.path.style.access.enabled": True}
    return {**example, **login, **where}, open_store(told, s3.url)


@pytest.mark.parametrize("title", EXAMPLES)
def test_an_example_writes_files(title: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    sink, example = EXAMPLES[title]
    config, store = here(example, request, tmp_path)
    count = MANY if config.get("flush.size", str(MANY)) == str(MANY) else 1
    task, _ = start(config, sink)
    task.put(batch(range(count + 1)))
    assert task.pre_commit({PARTITION: count + 1}) == {PARTITION: count}
    end(task)
    found = [each for path, data in content(store, "topics/orders").items() for each in rows(path, data)]
    assert sorted(found, key=lambda each: each["id"]) == [row(number) for number in range(count)]  # type: ignore[index]
