"""Sources on Spark pass the suite every source passes; Spark itself reads their units."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.config.secrets import Secrets
from copycat_connect.data import ConnectValue
from copycat_connect.plugin import (
    CONNECTORS,
    PluginSpec,
    SourceTask,
    SparkSourceTask,
    SparkUnit,
    load_plugins,
)
from copycat_executor.driverhost.topic_rows import DriverTopics
from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.spark.session import Spark, start_driver
from copycat_executor.spark.unit_jobs import RowQueries
from copycat_executor.taskhost.host_questions import HostQueries
from copycat_executor.taskhost.host_surroundings import Garbage, HostSurroundings
from copycat_executor.taskhost.order import TaskOrder
from copycat_rpc.messages import config_to_proto
from copycat_testkit.conformance import SourceConformance
from copycat_testkit.conformance.contexts import FakeSourceContext
from copycat_testkit.kafka import create_topic, produce, unique
from copycat_testkit.system import SHORT_LIVED_DRIVERS

from tests.unit.pipeline.fakes import FakeLink

pytestmark = [pytest.mark.long, pytest.mark.timeout(500)]


@pytest.fixture(scope="module")
def spark() -> Iterator[Spark]:
    """Run a driver's Spark in this process."""
    driver = start_driver(SHORT_LIVED_DRIVERS)
    yield driver
    driver.stop()


class TestSparkSource(SourceConformance):
    """Parquet files of a folder, one for each call of `feed`."""

    @pytest.fixture(autouse=True)
    def _use(self, spark: Spark, tmp_path: Path) -> None:
        self.spark = spark
        self.folder = tmp_path

    def spec(self) -> PluginSpec:
        """Return the connector."""
        return load_plugins().find("SparkSource", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        """Read the folder, and look for new files at once."""
        place = {"store.url": self.folder.as_uri(), "object.poll.interval.ms": "1"}
        return {"name": "conformance", "topic": "conformance", "format": "parquet", **place, "sql": self.sql}

    sql = "SELECT concat('value ', number) AS value FROM records"

    def feed(self, numbers: range) -> Sequence[ConnectValue]:
        """Write a file."""
        name = f"{time.monotonic_ns()}.parquet"
        pq.write_table(pa.table({"number": list(numbers)}), self.folder / name)
        return [f"value {number}" for number in numbers]

    def rows_of(self, task: SparkSourceTask, unit: SparkUnit) -> Iterable[Any]:
        """Read a unit."""
        frame, _ = task.frame(self.spark.session, [unit])
        assert task.query is not None
        batches: list[Any] = RowQueries().select(frame, task.query, repeatable=True).toArrow().to_batches()
        return batches


class TestPythonSource(TestSparkSource):
    """A data source of another package, which has a partition for each call of `feed`."""

    def config(self) -> Mapping[str, str]:
        """Look for new partitions at once."""
        source = {"format": "tests.conformance.python_numbers.Numbers", "spark.option.File": str(self._file)}
        looks = {"object.poll.interval.ms": "1", "sql": self.sql}
        return {"name": "conformance", "topic": "conformance", **source, **looks}

    def feed(self, numbers: range) -> Sequence[ConnectValue]:
        """Add a partition."""
        with self._file.open("a") as parts:
            parts.write(f"{numbers.start} {len(numbers)}\n")
        return [f"value {number}" for number in numbers]

    @property
    def _file(self) -> Path:
        return self.folder / "partitions"


class TestSparkQuery(TestSparkSource):
    """A query over a topic of one partition."""

    @pytest.fixture(autouse=True)
    def _feed_to(self, kafka: str) -> Iterator[None]:
        self.kafka = kafka
        self.topic = create_topic(kafka, unique("conformance"))
        self.topics: list[DriverTopics] = []
        yield
        for topics in self.topics:
            topics.close()

    def spec(self) -> PluginSpec:
        """Return the connector."""
        return load_plugins().find("SparkQuery", CONNECTORS)

    def config(self) -> Mapping[str, str]:
        """Read the topic, and look for new records at once."""
        read = {"input.topics": self.topic, "input.columns": "number INT", "input.poll.interval.ms": "1"}
        return {
            "name": "conformance",
            "connector.class": "SparkQuery",
            "topic": "out",
            **read,
            "sql": self.sql,
        }

    def feed(self, numbers: range) -> Sequence[ConnectValue]:
        """Write records."""
        produce(self.kafka, self.topic, [b'{"number":%d}' % number for number in numbers])
        return [f"value {number}" for number in numbers]

    def start(self, context: FakeSourceContext) -> SourceTask:
        """Start a task with topics to read."""
        topics = DriverTopics(
            self._order(),
            _surroundings(),
            TaskControl(),
            FakeLink(),
            calls=CallLog(time.monotonic),
            failed=lambda failure: pytest.fail(str(failure)),
            addresses=self.spark.addresses,
        )
        self.topics.append(topics)
        vars(context)["topics"] = topics
        return super().start(context)

    def _order(self) -> TaskOrder:
        converters = dict.fromkeys(("key.converter", "value.converter"), "JsonConverter")
        worker = {"bootstrap.servers": self.kafka, "group.id": "conformance", **converters}
        worker["value.converter.schemas.enable"] = "false"
        given = dict(self.config())
        command = pb.StartTask(
            task=pb.TaskRef(connector="conformance", task=0),
            worker_config=config_to_proto(worker),
            connector_config=config_to_proto(given),
            task_config=config_to_proto(given),
        )
        return TaskOrder("conformance", 0, worker, given, given, {}, Secrets(), command.SerializeToString())


def _surroundings() -> HostSurroundings:
    return HostSurroundings(
        plugins=load_plugins(),
        environment={},
        clock=time.monotonic,
        random=lambda: 0.5,
        queries=HostQueries(lambda _: None),
        garbage=Garbage(time.monotonic),
    )
