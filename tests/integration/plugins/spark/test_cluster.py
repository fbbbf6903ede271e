"""Drivers on a Spark cluster: partitions work in several of its executors, and every record counts once."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from copycat_testkit.kafka import create_topic, unique, wait_until
from copycat_testkit.system import SHORT_LIVED_DRIVERS, CopycatUp
from pyiceberg.catalog import load_catalog

from tests.conformance.python_numbers import Numbers
from tests.integration.plugins.spark.lake import SECONDS, Lake
from tests.integration.plugins.spark.standalone import SparkStandalone
from tests.integration.plugins.spark.test_sink import ids, produce, rows, sink, value
from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(600), pytest.mark.long]
AUTHOR = Path(__file__).with_name("author")
#: What workers and Spark's executors have besides Copycat: a plugin, and a Python data source.
PYTHONPATH = os.pathsep.join((str(AUTHOR), str(Path(__file__).parents[4])))
COLUMNS = pa.schema([("id", pa.int64()), ("place", pa.string())])
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
        "spark.executorEnv.PYTHONPATH": PYTHONPATH,
    }
    environment = on_plain_hosts({"PYTHONPATH": PYTHONPATH})
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


def numbered(number: int, rows_each: int) -> pa.Table:
    ids = range(number * rows_each, (number + 1) * rows_each)
    return pa.table({"id": [*ids], "place": [""] * rows_each}, COLUMNS)


def files(lake: Lake, units: range, rows_each: int) -> dict[str, str]:
    """Add files, each of which is a unit; returns how they are read, as the others do."""
    for number in units:
        lake.add(f"{number:03}.parquet", numbered(number, rows_each))
    return {"format": "parquet"}


def snapshots(lake: Lake, units: range, rows_each: int) -> dict[str, str]:
    """Add snapshots of a file each to a table of Iceberg."""
    uri, name = f"sqlite:///{lake.folder}/catalog.db", "shop.t"
    catalog = load_catalog("default", type="sql", uri=uri)
    catalog.create_namespace_if_not_exists("shop")
    table = catalog.create_table_if_not_exists(name, COLUMNS, location=f"file://{lake.folder}/t")
    for number in units:
        table.append(numbered(number, rows_each))
    return {"format": "iceberg", "iceberg.table": name, "iceberg.catalog.uri": uri}


def partitions(lake: Lake, units: range, rows_each: int) -> dict[str, str]:
    """Add partitions to what a Python data source reads."""
    file = lake.folder / "partitions"
    with file.open("a") as lines:
        lines.writelines(f"{number * rows_each} {rows_each}\n" for number in units)
    sql = "SELECT CAST(number AS BIGINT) AS id, '' AS place FROM records"
    return {"format": f"{Numbers.__module__}.Numbers", "spark.option.file": str(file), "sql": sql}


def both_work(cluster: SparkStandalone) -> None:
    wait_until(lambda: len(cluster.executors()) == 2, SECONDS, "an executor of Spark on each worker")


@pytest.mark.parametrize("add", [files, snapshots, partitions])
def test_records_of_a_source_come_through_both_executors_once_though_one_and_the_driver_are_killed(
    lake: Lake, cluster: SparkStandalone, add: Callable[[Lake, range, int], dict[str, str]]
) -> None:
    name, count, rows_each = unique("spark"), 40, 10_000
    config = add(lake, range(30), rows_each)
    source = {"connector.class": "SparkSource", "delivery.guarantee": "exactly_once"}
    lake.put(name, **source, **config, **OBSERVED)
    both_work(cluster)
    wait_until(lambda: len(lake.done(name)) >= 6, SECONDS, "some units are done")
    assert len(lake.done(name)) < 30
    cluster.executors()[0].kill()
    add(lake, range(30, count), rows_each)
    wait_until(lambda: len(lake.done(name)) >= 12, SECONDS, "more units are done")
    assert len(lake.done(name)) < count
    lake.kill("driver")
    wait_until(lambda: len(lake.done(name)) == count, SECONDS, "all units are done")
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
    files(lake, range(4), 10)
    lake.put(name, **{"connector.class": "SparkSource", "format": "parquet"}, **OBSERVED)
    wait_until(lambda: len(lake.done(name)) == 4, SECONDS, "all files are done")
    (given_up,) = lake.drivers()
    cluster.kill_applications()
    wait_until(lambda: lake.drivers() not in ([], [given_up]), SECONDS, "another driver")
    files(lake, range(4, 8), 10)
    wait_until(lambda: len(lake.done(name)) == 8, SECONDS, "files that came later are done")
