"""Files that Spark reads: what arrives is what ObjectSource sends, once, whatever is killed, as REST says."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.csv
import pyarrow.orc
import pyarrow.parquet as pq
import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat_executor.driverhost.service_questions import PartitionLine
from copycat_executor.driverhost.unit_work import UnitReport, UnitWork
from copycat_executor.pipeline.source.source_offsets import partition_key
from copycat_executor.pipeline.task.stages import Stage
from copycat_objects.spark.task import SparkFilesTask
from copycat_rpc.messages import config_to_proto
from copycat_testkit.conformance.contexts import FakeSourceContext
from copycat_testkit.kafka import consume_all, create_topic, headers_in, unique, wait_until
from copycat_testkit.spans import OtlpReceiver

from tests.integration.plugins.spark.lake import JSON, SECONDS, Lake
from tests.unit.pipeline.fakes import FakeLink

pytestmark = pytest.mark.timeout(500)
LOOPBACK = ("127.0.0.1", "127.0.0.1")


def table(first: int, rows: int) -> pa.Table:
    """Rows of the types that files have, some of them null."""
    ids = range(first, first + rows)
    at = [datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=number, microseconds=5) for number in ids]
    fields = [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("small", pa.int8()),
        pa.field("unsigned", pa.uint16()),
        pa.field("word", pa.string()),
        pa.field("price", pa.decimal128(12, 2)),
        pa.field("at", pa.timestamp("us", tz="UTC")),
        pa.field("day", pa.date32()),
        pa.field("raw", pa.binary()),
        pa.field("words", pa.list_(pa.string())),
        pa.field("place", pa.struct([pa.field("x", pa.float64()), pa.field("y", pa.float32())])),
        pa.field("counts", pa.map_(pa.string(), pa.int32())),
    ]
    columns = [
        list(ids),
        [number % 100 for number in ids],
        [number % 60000 for number in ids],
        [None if number % 7 == 0 else f"wörd {number}" for number in ids],
        [Decimal(number) / 100 for number in ids],
        at,
        [date(2024, 1, 1) + timedelta(days=number % 300) for number in ids],
        [b"\x00\xff%d" % number for number in ids],
        [None if number % 5 == 0 else [str(number), "b"] for number in ids],
        [None if number % 3 == 0 else {"x": number / 2, "y": None} for number in ids],
        [[("a", number % 1000), ("b", 2)] for number in ids],
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def test_parquet_arrives_as_object_source_sends_it_and_obeys_rest(lake: Lake, spans: OtlpReceiver) -> None:
    name, other = unique("spark"), unique("object")
    for number in range(3):
        pq.write_table(table(number * 500, 500), lake.folder / f"[{number}] a.parquet", row_group_size=100)
    pq.write_table(table(0, 0), lake.folder / "empty.parquet")
    start = {"trace.records": "start", "trace.records.ratio": "1"}
    lake.put(name, **{"connector.class": "SparkSource", "tasks.max": "2", "format": "parquet"}, **start)
    lake.put(other, **{"connector.class": "ObjectSource"})
    found = lake.waits_for(name, 1500)
    assert Counter(found) == Counter(lake.waits_for(other, 1500))
    [*headers] = (headers_in(message) for message in lake.records(name))
    carried = {value[3:52].decode() for ((_, value),) in headers if value is not None}
    assert [[key for key, _ in each] for each in headers] == [["traceparent"]] * 1500

    def begun() -> set[str]:
        """The spans of batches, as headers name them."""
        found = [each for each in spans.spans(connector=name) if each.name == "send"]
        return {f"{each.trace}-{each.span}" for each in found}

    wait_until(lambda: carried <= begun(), SECONDS, "the span of each batch")
    assert [task["id"]["task"] for task in lake.ask("GET", f"{name}/tasks")] == [0]  # type: ignore[attr-defined]

    lake.ask("PUT", f"{name}/pause")
    wait_until(lambda: lake.state(name) == "PAUSED", SECONDS, "it pauses")
    lake.add("more.parquet", table(1500, 10))
    lake.waits_for(other, 1510)
    assert len(lake.values(name)) == 1500
    lake.ask("PUT", f"{name}/resume")
    assert Counter(lake.waits_for(name, 1510)) == Counter(lake.values(other))

    wait_until(lambda: len(lake.done(name)) == 5, SECONDS, "all is committed")
    assert sorted(lake.done(name)) == [0, 10, 500, 500, 500]
    lake.ask("PUT", f"{name}/stop")
    wait_until(lambda: lake.state(name) == "", SECONDS, "it stops")
    lake.ask("DELETE", f"{name}/offsets")
    lake.ask("PUT", f"{name}/resume")
    assert Counter(lake.waits_for(name, 3020)) == Counter(lake.values(other) * 2)
    lake.ask("DELETE", name)
    lake.ask("DELETE", other)
    wait_until(lambda: not lake.drivers(), SECONDS, "no driver is left")


@pytest.mark.long
def test_other_formats_arrive_with_sparks_options_and_what_is_broken_fails_the_task(lake: Lake) -> None:
    rows = pa.table({"id": [1, 2, 3], "word": ["a", None, "ü"]})
    pyarrow.orc.write_table(rows, lake.folder / "a.orc")
    (lake.folder / "a.csv").write_text("id;word\n1;a\n2;\n3;ü\n", "utf-8")
    (lake.folder / "a.json").write_text('{"id":1,"word":"a"}\n{"id":2}\n{"id":3,"word":"ü"}\n', "utf-8")
    (lake.folder / "a.txt").write_text("one\n\nthrée\n", "utf-8")
    (lake.folder / "b.parquet").write_text("no Parquet")
    name = unique("spark")
    csv = {"spark.option.header": "true", "spark.option.sep": ";", "spark.option.inferSchema": "true"}
    plain = {"connector.class": "SparkSource", "value.converter.schemas.enable": "false"}
    structs = [{"id": 1, "word": "a"}, {"id": 2, "word": None}, {"id": 3, "word": "ü"}]
    expected: dict[str, tuple[dict[str, str], list[object]]] = {
        "orc": ({}, structs),
        "csv": (csv, structs),
        "json": ({}, structs),
        "text": ({}, ["one", "", "thrée"]),
    }
    for kind, (options, values) in expected.items():  # one after the other, in the same driver
        pattern = r".*\.txt" if kind == "text" else rf".*\.{kind}"
        topic = f"{name}-{kind}"
        lake.put(name, **plain, **options, topic=topic, format=kind, pattern=pattern)
        assert [json.loads(value) for value in lake.waits_for(topic, 3)] == values, kind
    lake.put(name, **plain, format="parquet", pattern=r".*\.parquet")
    wait_until(lambda: lake.state(name) == "FAILED", SECONDS, "it fails")
    status = lake.ask("GET", f"{name}/status")
    assert "b.parquet" in status["tasks"][0]["trace"]  # type: ignore[index]
    lake.ask("DELETE", name)


class Partition:
    """What a partition does with a file of 100 rows, exactly once, and the driver that it asks."""

    def __init__(self, kafka: str, folder: Path) -> None:
        pq.write_table(table(0, 100), folder / "a.parquet")
        self.rows = pq.read_table(folder / "a.parquet").to_batches()
        self.topic, self.offsets = create_topic(kafka), create_topic(kafka)
        given = {
            "name": "lake",
            "connector.class": "SparkSource",
            "topic": self.topic,
            "format": "parquet",
            "store.url": f"file://{folder}",
            "delivery.guarantee": "exactly_once",
        }
        worker = {
            "bootstrap.servers": kafka,
            "group.id": unique("group"),
            "offset.storage.topic": self.offsets,
            "key.converter": JSON,
            "value.converter": JSON,
        }
        command = pb.StartTask(
            task=pb.TaskRef(connector="lake", task=0),
            worker_config=config_to_proto(worker),
            connector_config=config_to_proto(given),
            task_config=config_to_proto(given),
        )
        self.task, self.link = SparkFilesTask(), FakeLink()
        self.task.initialize(FakeSourceContext(given))
        self.task.start(given)
        (self.unit,) = self.task.plan()
        self.driver = PartitionLine(self.link, LOOPBACK)
        line = self.driver.line
        self.work = UnitWork(command.SerializeToString(), [self.unit], [None], line, 7, (), "WARNING")

    def replace_driver(self) -> None:
        """End the driver, and have another."""
        self.driver.close()
        self.driver = PartitionLine(self.link, LOOPBACK)
        self.work = replace(self.work, line=self.driver.line)

    def read(self, process: ProcessPoolExecutor) -> UnitReport:
        return reported(process.submit(self.work, self.rows))


def reported(written: Future[bytes]) -> UnitReport:
    report: UnitReport = pickle.loads(written.result(timeout=SECONDS))  # noqa: S301 - our own process wrote it
    return report


def stop_before_the_commit(work: UnitWork, rows: list[pa.RecordBatch]) -> bytes:
    """Do the work, and stop this process (SIGSTOP) when there is nothing left to read."""

    def stopping() -> Iterator[pa.RecordBatch]:
        yield from rows
        os.kill(os.getpid(), signal.SIGSTOP)

    return work(stopping())


def test_a_partition_with_an_old_plan_or_without_its_driver_sends_nothing(kafka: str, tmp_path: Path) -> None:
    it = Partition(kafka, tmp_path)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        assert it.read(process).failure is None
        assert len(consume_all(kafka, it.topic)) == 100
        committed = consume_all(kafka, it.offsets)[-1].value() or b""  # in the same transaction
        it.link.stored[partition_key(it.unit.partition)] = committed
        assert it.task.is_done(it.unit, json.loads(committed))
        assert it.read(process).failure is None
        it.link.stored.clear()
        it.driver.close()
        failure = it.read(process).failure
        assert failure is not None
        assert failure.stage is Stage.START
    assert len(consume_all(kafka, it.topic)) == 100


def test_a_partition_that_was_stopped_before_its_commit_while_its_driver_was_replaced_commits_nothing(
    kafka: str, tmp_path: Path
) -> None:
    it = Partition(kafka, tmp_path)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, spawn) as former, ProcessPoolExecutor(1, spawn) as latter:
        zombie = psutil.Process(former.submit(os.getpid).result(timeout=SECONDS))
        written = former.submit(stop_before_the_commit, it.work, it.rows)
        try:
            wait_until(lambda: zombie.status() == psutil.STATUS_STOPPED, SECONDS, "it is stopped")
            it.replace_driver()
            assert it.read(latter).failure is None
            committed = [each.value() for each in consume_all(kafka, it.offsets)]
        finally:
            zombie.resume()
        report = reported(written)
    assert report.failure is not None
    assert report.failure.stage is Stage.FLUSH
    assert not report.offsets
    it.driver.close()
    assert len(committed) == 1
    assert [each.value() for each in consume_all(kafka, it.offsets)] == committed
    assert len(consume_all(kafka, it.topic)) == 100


@pytest.mark.long
def test_a_file_arrives_exactly_once_though_driver_and_partition_are_killed(lake: Lake) -> None:
    name, files, rows = unique("spark"), 24, 10_000
    for number in range(files):
        ids = range(number * rows, (number + 1) * rows)
        pq.write_table(pa.table({"id": ids, "word": ["x" * 20] * rows}), lake.folder / f"{number:02}.parquet")
    settings = {"connector.class": "SparkSource", "tasks.max": "2", "format": "parquet"}
    plain = {"value.converter.schemas.enable": "false"}
    lake.put(name, **settings, **plain, **{"delivery.guarantee": "exactly_once"})
    for done, what in ((1, "partition"), (3, "driver"), (6, "driver")):
        wait_until(lambda: len(lake.done(name)) >= done, SECONDS, f"{done} files are done")  # noqa: B023
        assert len(lake.done(name)) < files
        lake.kill(what)
    wait_until(lambda: len(lake.done(name)) == files, SECONDS, "all files are done")
    found = [json.loads(value)["id"] for value in lake.values(name)]
    assert Counter(found) == Counter(range(files * rows))
    lake.ask("DELETE", name)
