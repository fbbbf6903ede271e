"""The examples on the pages of the object sinks and source, run as written but for addresses and logins."""

from __future__ import annotations

import contextlib
import gzip
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

import fastavro
import pytest
from copycat_connect.data import SourceRecord, Struct
from copycat_connect.plugin import CONNECTORS, load_plugins
from copycat_objects.stores.opening import open_store
from copycat_objects.stores.store import Store
from copycat_testkit.conformance.contexts import FakeSourceContext
from copycat_testkit.hdfs import USER, Hdfs
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.s3 import REGION, S3Server

from tests.integration.stores import test_object_source, test_s3
from tests.integration.stores.sinks import PARTITION, batch, content, end, row, rows, start
from tests.integration.stores.store_suite import put
from tests.integration.stores.test_s3 import client

pytestmark = pytest.mark.timeout(300)

SPEC = load_plugins().find("ObjectSource", CONNECTORS)
S3_EXAMPLE, HDFS_EXAMPLE, CSV_EXAMPLE = (dict(example) for example in SPEC.examples.values())


def read(config: Mapping[str, str], count: int, tasks: int = 1) -> list[SourceRecord]:
    """Run the connector and its tasks until they have read so many records, and commit them."""
    connector = SPEC.make()
    connector.start(config)
    records: list[SourceRecord] = []
    running = []
    for task_config in connector.task_configs(tasks):
        task, context = SPEC.make_task(), FakeSourceContext(task_config)
        task.initialize(context)
        task.start(task_config)
        running.append((task, context))

    def read_all() -> bool:
        for task, context in running:
            found = list(task.poll() or ())
            records.extend(found)
            for record in found:
                context.store(record.source_partition, record.source_offset)
            if found:
                task.commit()
        return len(records) >= count

    wait_until(read_all, 60, "all records")
    for task, _ in running:
        task.poll()  # cleans up
        task.stop()
    connector.stop()
    return records


@pytest.mark.long
def test_what_the_object_sinks_wrote_to_s3(s3: S3Server) -> None:
    test_s3.client(s3).create_bucket(
        Bucket="warehouse", CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    config = {**S3_EXAMPLE, "s3.region": REGION, "s3.endpoint": s3.url, "aws.secret.access.key": "any"}
    store = open_store({**config, "s3.path.style.access.enabled": True}, "s3://warehouse/topics")
    schema = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
    for first in (10, 0):
        out = io.BytesIO()
        fastavro.writer(out, schema, [{"id": each} for each in range(first, first + 10)])
        put(store, f"orders/year=2026/orders+3+{first:010d}.avro", out.getvalue())
    records = read(config, 20)
    assert [record.value.get("id") for record in records if isinstance(record.value, Struct)] == [*range(20)]
    assert {record.topic for record in records} == {"orders"}


@pytest.mark.long
def test_parquet_files_of_hdfs_by_four_tasks(hdfs: Hdfs) -> None:
    place = {"webhdfs.url": hdfs.web_url, "hdfs.user": USER}
    store = open_store(place, f"{hdfs.url}/landing")
    for number in range(5):
        put(
            store,
            f"orders/{number}.parquet",
            test_object_source.parquet(range(number * 10, number * 10 + 10)),
        )
    put(store, "customers/0.parquet", test_object_source.parquet(range(1000, 1010)))
    config = {**HDFS_EXAMPLE, **place, "store.url": f"{hdfs.url}/landing"}
    records = read(config, 50, tasks=int(HDFS_EXAMPLE["tasks.max"]))
    ids = [int(str(record.value.get("id"))) for record in records if isinstance(record.value, Struct)]
    assert sorted(ids) == list(range(50))


def test_csv_files_deleted_once_they_are_in_kafka(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("deliveries")
    (folder / "one.csv").write_text('id;place\n1;Paris\n2;"Lyon; south"\n')
    (folder / "two.csv.gz").write_bytes(gzip.compress(b"id;place\n3;Nice\n"))
    (folder / "notes.txt").write_text("stays")
    config = {**CSV_EXAMPLE, "store.url": f"file://{folder}", "object.min.age.ms": "1"}
    records = read(config, 3)
    values = [record.value.values for record in records if isinstance(record.value, Struct)]
    assert values == [["1", "Paris"], ["2", "Lyon; south"], ["3", "Nice"]]
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


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


@pytest.mark.long
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
