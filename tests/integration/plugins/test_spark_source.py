"""Files that Spark reads: what arrives is what ObjectSource sends, once, whatever is killed, as REST says."""

from __future__ import annotations

import json
import multiprocessing
import pickle
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.orc
import pyarrow.parquet as pq
import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat_executor.driverhost.partition_work import PartitionFailure
from copycat_executor.driverhost.service_questions import PartitionLine
from copycat_executor.driverhost.unit_work import UnitReport, UnitWork
from copycat_executor.pipeline.source.source_offsets import partition_key
from copycat_executor.pipeline.task.stages import Stage
from copycat_objects.spark.task import SparkFilesTask
from copycat_rpc.messages import config_to_proto
from copycat_testkit.conformance.contexts import FakeSourceContext
from copycat_testkit.kafka import consume_all, create_topic, unique, wait_until

from tests.integration.plugins.spark_lake import JSON, SECONDS, Lake
from tests.unit.pipeline.fakes import FakeLink

pytestmark = pytest.mark.timeout(500)


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


def test_parquet_arrives_as_object_source_sends_it_and_obeys_rest(lake: Lake) -> None:
    name, other = unique("spark"), unique("object")
    for number in range(3):
        pq.write_table(table(number * 500, 500), lake.folder / f"[{number}] a.parquet", row_group_size=100)
    pq.write_table(table(0, 0), lake.folder / "empty.parquet")
    lake.put(name, **{"connector.class": "SparkSource", "tasks.max": "2", "format": "parquet"})
    lake.put(other, **{"connector.class": "ObjectSource"})
    found = lake.waits_for(name, 1500)
    assert Counter(found) == Counter(lake.waits_for(other, 1500))
    assert [task["id"]["task"] for task in lake.ask("GET", f"{name}/tasks")] == [0]  # type: ignore[attr-defined]

    lake.ask("PUT", f"{name}/pause")
    wait_until(lambda: lake.state(name) == "PAUSED", SECONDS, "it pauses")
    pq.write_table(table(1500, 10), lake.folder / "more.parquet")
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


def test_a_partition_with_an_old_plan_or_without_its_driver_sends_nothing(kafka: str, tmp_path: Path) -> None:
    pq.write_table(table(0, 100), tmp_path / "a.parquet")
    rows = pq.read_table(tmp_path / "a.parquet").to_batches()
    topic, offsets = unique("spark"), unique("offsets")
    for each in (topic, offsets):
        create_topic(kafka, each)
    given = {
        "name": "lake",
        "connector.class": "SparkSource",
        "topic": topic,
        "format": "parquet",
        "store.url": f"file://{tmp_path}",
        "delivery.guarantee": "exactly_once",
    }
    worker = {
        "bootstrap.servers": kafka,
        "group.id": unique("group"),
        "offset.storage.topic": offsets,
        "key.converter": JSON,
        "value.converter": JSON,
    }
    command = pb.StartTask(
        task=pb.TaskRef(connector="lake", task=0),
        worker_config=config_to_proto(worker),
        connector_config=config_to_proto(given),
        task_config=config_to_proto(given),
    )
    task, link = SparkFilesTask(), FakeLink()
    task.initialize(FakeSourceContext(given))
    task.start(given)
    (unit,) = task.plan()
    served = PartitionLine(link)
    work = UnitWork(command.SerializeToString(), [unit], [None], served.line, 7, (), "WARNING")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as partition:

        def read() -> PartitionFailure | None:
            written = partition.submit(work, rows).result(timeout=SECONDS)
            report: UnitReport = pickle.loads(written)  # noqa: S301 - our own process has written it
            return report.failure

        assert read() is None
        assert len(consume_all(kafka, topic)) == 100
        committed = consume_all(kafka, offsets)[-1].value() or b""  # in the same transaction
        link.stored[partition_key(unit.partition)] = committed
        assert task.is_done(unit, json.loads(committed))
        assert read() is None
        link.stored.clear()
        served.close()
        failure = read()
        assert failure is not None
        assert failure.stage is Stage.START
    assert len(consume_all(kafka, topic)) == 100


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
