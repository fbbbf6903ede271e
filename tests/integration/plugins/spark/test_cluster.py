"""Drivers on a Spark cluster: partitions work in several of its executors, and every record counts once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from copycat_testkit.kafka import create_topic, unique, wait_until
from copycat_testkit.system import SHORT_LIVED_DRIVERS, CopycatUp

from tests.integration.plugins.spark.lake import SECONDS, Lake
from tests.integration.plugins.spark.standalone import SparkStandalone
from tests.integration.plugins.spark.test_sink import ids, produce, rows, sink, value
from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(600), pytest.mark.long]
AUTHOR = Path(__file__).with_name("author")
#: Writes into each record which executor it came through.
OBSERVED = {"transforms": "seen", "transforms.seen.type": "observing.Observe", "tasks.max": "2"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkStandalone]:
    with SparkStandalone(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="module")
def on_cluster(
    kafka: str, cluster: SparkStandalone, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CopycatUp]:
    """Run a system whose hosts are here and whose drivers use the cluster, which has the plugin, too."""
    settings = {
        **SHORT_LIVED_DRIVERS,
        "spark.drivers.master": cluster.url,
        "spark.driver.host": "127.0.0.1",
        "spark.executorEnv.PYTHONPATH": str(AUTHOR),
    }
    environment = on_plain_hosts({"PYTHONPATH": str(AUTHOR)})
    folder = tmp_path_factory.mktemp("system")
    with CopycatUp(folder, kafka, settings=settings, environment=environment) as up:
        yield up


@pytest.fixture
def lake(on_cluster: CopycatUp, kafka: str, tmp_path: Path) -> Iterator[Lake]:
    lake = Lake(on_cluster, kafka, tmp_path / "lake")
    yield lake
    for name in lake.ask("GET", ""):  # type: ignore[attr-defined]
        lake.ask("DELETE", name)
    wait_until(lambda: not lake.drivers(), SECONDS, "no driver is left, which holds cores")


def files(lake: Lake, count: int, rows_each: int, first: int = 0) -> None:
    for number in range(first, first + count):
        numbers = range(number * rows_each, (number + 1) * rows_each)
        table = pa.table({"id": numbers, "place": [""] * rows_each})
        pq.write_table(table, lake.folder / f"{number:03}.parquet")


def both_work(cluster: SparkStandalone) -> None:
    wait_until(lambda: len(cluster.executors()) == 2, SECONDS, "an executor of Spark on each worker")


def test_records_of_a_source_come_through_both_executors_once_though_one_is_killed(
    lake: Lake, cluster: SparkStandalone
) -> None:
    name, count, rows_each = unique("spark"), 40, 10_000
    files(lake, count, rows_each)
    source = {"connector.class": "SparkSource", "format": "parquet", "delivery.guarantee": "exactly_once"}
    lake.put(name, **source, **OBSERVED)
    both_work(cluster)
    wait_until(lambda: len(lake.done(name)) >= 6, SECONDS, "some files are done")
    assert len(lake.done(name)) < count
    cluster.executors()[0].kill()
    wait_until(lambda: len(lake.done(name)) == count, SECONDS, "all files are done")
    assert lake.state(name) == "RUNNING"
    found = [json.loads(each)["payload"] for each in lake.values(name)]
    assert Counter(each["id"] for each in found) == Counter(range(count * rows_each))
    places = {each["place"] for each in found}
    assert len(places) >= 3, "the two, and the one that came for the one that was killed"
    assert {cluster.worker_of(place) for place in places} == {0, 1}


def test_rows_of_a_sink_come_through_both_executors_once_though_one_is_killed(
    lake: Lake, cluster: SparkStandalone
) -> None:
    name, total = unique("sink"), 0
    table = lake.folder / "tables" / name
    create_topic(lake.kafka, name, partitions=2)
    lake.put(name, **sink(name, **OBSERVED))
    for turn in range(4):
        produce(lake, name, [value(number) for number in range(total, total + 20_000)], 2)
        before, total = total, total + 20_000
        wait_until(lambda least=before: len(rows(table)) > least, SECONDS, "it writes")  # type: ignore[misc]
        both_work(cluster)
        if turn:
            cluster.executors()[turn % 2].kill()
    wait_until(lambda: len(rows(table)) >= total, SECONDS, "all rows")
    assert lake.state(name) == "RUNNING"
    assert ids(table) == Counter(range(total))
    places = {row["place"] for row in rows(table)}
    assert {cluster.worker_of(place) for place in places} == {0, 1}


def test_a_driver_that_its_cluster_has_given_up_is_replaced(lake: Lake, cluster: SparkStandalone) -> None:
    name = unique("spark")
    files(lake, 4, 10)
    lake.put(name, **{"connector.class": "SparkSource", "format": "parquet"}, **OBSERVED)
    wait_until(lambda: len(lake.done(name)) == 4, SECONDS, "all files are done")
    (given_up,) = lake.drivers()
    cluster.kill_applications()
    wait_until(lambda: lake.drivers() not in ([], [given_up]), SECONDS, "another driver")
    files(lake, 4, 10, first=4)
    wait_until(lambda: len(lake.done(name)) == 8, SECONDS, "files that came later are done")
