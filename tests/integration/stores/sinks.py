"""What the tests of the object sinks share: places in stores, tasks, and files."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping, Sequence

import fastavro
import pyarrow.parquet as pq
from copycat_connect.data import (
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    Schema,
    SchemaBuilder,
    SinkBatch,
    SinkRecord,
    Struct,
    TopicPartition,
)
from copycat_connect.plugin import CONNECTORS, SinkTask, load_plugins
from copycat_objects.stores.opening import open_store
from copycat_objects.stores.store import Store
from copycat_testkit.conformance.contexts import FakeSinkContext
from copycat_testkit.hdfs import USER, Hdfs
from copycat_testkit.kafka import unique
from copycat_testkit.s3 import S3Server

from tests.integration.stores import test_s3

PARTITION = TopicPartition("orders", 3)
SCHEMA = (
    SchemaBuilder.struct()
    .name("Order")
    .field("id", INT64_SCHEMA)
    .field("country", OPTIONAL_STRING_SCHEMA)
    .build()
)
COUNTRIES = ("FR", "DE", None)
HOUR = 3_600_000
Config = Mapping[str, str]


def place_in_s3(s3: S3Server) -> dict[str, str]:
    """Return the keys of a bucket of its own."""
    return {key: str(value) for key, value in test_s3.place_in(s3).items()}


def place_in_hdfs(hdfs: Hdfs, key: str = "store.url") -> dict[str, str]:
    """Return the keys of a folder of its own."""
    return {key: f"{hdfs.url}/{unique('sink')}", "webhdfs.url": hdfs.web_url, "hdfs.user": USER}


def store_at(place: Config) -> Store:
    """Return the store of a place."""
    url = place.get("store.url") or place["hdfs.url"]
    return open_store({**place, "s3.path.style.access.enabled": True}, url)


def content(store: Store, folder: str) -> dict[str, bytes]:
    """Return all files below a folder."""
    return {file.path: store.read(file.path, 0, file.size) for file in store.list(folder)}


def start(
    config: Config, sink: str = "ObjectSink", make: Callable[[], SinkTask] | None = None
) -> tuple[SinkTask, FakeSinkContext]:
    """Start a task as the engine does with at-least-once delivery; the context knows where it goes on."""
    spec = load_plugins().find(sink, CONNECTORS)
    connector = spec.make()
    connector.start({"name": "export", "topics": "orders", **config})
    context = FakeSinkContext(connector.task_configs(1)[0], [PARTITION])
    task: SinkTask = make() if make else spec.make_task()
    task.initialize(context)
    task.start(context.configs())
    task.open([PARTITION])
    return task, context


def end(task: SinkTask) -> None:
    """End a task as the engine does when it is moved."""
    task.close([PARTITION])
    task.stop()


def batch(numbers: Sequence[int], schema: Schema = SCHEMA) -> SinkBatch:
    """Return records whose offset, id and hour are their number."""
    return SinkBatch.of(
        [
            SinkRecord(
                PARTITION.topic,
                PARTITION.partition,
                number,
                value=Struct(schema, {"id": number, "country": COUNTRIES[number % 3]}),
                value_schema=schema,
                timestamp=number * HOUR,
            )
            for number in numbers
        ]
    )


def rows(path: str, data: bytes) -> list[object]:
    """Return the values of a file."""
    if path.endswith(".parquet"):
        return [*pq.read_table(io.BytesIO(data)).to_pylist()]
    if path.endswith(".avro"):
        return [*fastavro.reader(io.BytesIO(data))]
    return [json.loads(line) for line in data.splitlines()]


def row(number: int) -> dict[str, object]:
    """Return the value of a record as files have it."""
    return {"id": number, "country": COUNTRIES[number % 3]}


def told_offsets(path: str) -> tuple[int, int]:
    """Return the first and the last offset in a file's name."""
    found = re.search(r"\+(\d+)\+(\d+)\.\w+$", path)
    assert found is not None, path
    return int(found[1]), int(found[2])
