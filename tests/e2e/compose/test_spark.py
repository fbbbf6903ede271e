"""spark.yaml: partitions of a connector run on two workers of Spark in containers, one of which is killed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml
from copycat_testkit.kafka import wait_until

from tests.e2e.compose.project import SECONDS, Project, project
from tools.containers.compose import commands_of
from tools.containers.engine import ROOT, Engine
from tools.containers.spark_cluster import COUNT_FORKED

pytestmark = pytest.mark.timeout(1800, func_only=True)

PAGE: Final = ROOT / "deploy/README.md"
#: A transformation that writes into each record in which folder of a Spark worker it was made.
AUTHOR: Final = ROOT / "tests/integration/plugins/spark/author"
WORKERS: Final = ("spark-worker-1", "spark-worker-2")
NAME, FILES, ROWS = "orders", 64, 2_500
ORDERS: Final = {
    "connector.class": "SparkSource",
    "tasks.max": "2",
    "topic": NAME,
    "format": "parquet",
    "store.url": "file:///data/landing",
    "delivery.guarantee": "exactly_once",
    "transforms": "seen",
    "transforms.seen.type": "observing.Observe",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}
WRITE_FILES: Final = f"""
import os, pyarrow as pa, pyarrow.parquet as pq
os.mkdir("/data/landing")
for first in range(0, {FILES * ROWS}, {ROWS}):
    numbers = range(first, first + {ROWS})
    pq.write_table(pa.table({{"id": numbers, "place": [""] * {ROWS}}}), f"/data/landing/{{first:08}}.parquet")
"""


@pytest.fixture
def with_spark(engine: Engine, tmp_path: Path) -> Iterator[Project]:
    """Give the containers of the page, one executor of two, all with the transformation."""
    with_plugin = {"environment": {"PYTHONPATH": "/author"}, "volumes": [f"{AUTHOR}:/author:ro"]}
    override = tmp_path / "plugin.yaml"
    override.write_text(yaml.safe_dump({"services": dict.fromkeys(("executor-1", *WORKERS), with_plugin)}))
    secret, *_ = commands_of(PAGE, "export COPYCAT_CLUSTER_SECRET")
    of_spark, up = commands_of(PAGE, "export COPYCAT_SPARK_SECRET")
    with project(engine, "copycat-e2e-spark") as made:
        made.shell.type(secret)
        made.shell.type(of_spark)
        made.shell.type(f"{up.replace(' up --build ', f' -f {override} up ')} --scale executor-2=0")
        wait_until(
            lambda: made.healthy("gateway", "executor-1", "spark-master", *WORKERS),
            SECONDS,
            "all containers are healthy",
        )
        yield made


def folders(project: Project, worker: str) -> set[str]:
    """Return the folders that a worker of Spark gave its executors."""
    return set((project.runs(worker, "sh", "-c", "ls -d /tmp/work/*/*") or b"").decode().split())


def works(project: Project, worker: str) -> bool:
    """Tell whether a worker of Spark has begun with a partition."""
    return int(project.runs(worker, "python", "-c", COUNT_FORKED) or 0) > 0


def read_whole(project: Project) -> int:
    """Return how many files the connector has read and committed."""
    found = (project.shell.get(f"/connectors/{NAME}/offsets") or {"offsets": []})["offsets"]
    return sum(each["offset"]["done"] for each in found)


def test_every_record_comes_once_through_both_workers_though_one_is_killed(
    with_spark: Project, tmp_path: Path
) -> None:
    assert with_spark.runs("executor-1", "python", "-c", WRITE_FILES) is not None
    config = tmp_path / f"{NAME}.json"
    config.write_text(json.dumps({"name": NAME, "config": ORDERS}))

    with_spark.shell.type(f"copycat apply {config}")
    wait_until(lambda: all(works(with_spark, each) for each in WORKERS), SECONDS, "both workers work")
    before = read_whole(with_spark)
    wait_until(lambda: read_whole(with_spark) >= before + 6, SECONDS, "both have read files")
    assert read_whole(with_spark) < FILES
    of_first, of_second = (folders(with_spark, worker) for worker in WORKERS)
    with_spark.containers()[WORKERS[1]].kill()
    wait_until(lambda: read_whole(with_spark) == FILES, SECONDS, "all files are read")

    records = [json.loads(line) for line in with_spark.records("executor-1", NAME) or ()]
    assert Counter(each["id"] for each in records) == Counter(range(FILES * ROWS))
    places = {each["place"] for each in records}
    assert places & of_first, "the first worker"
    assert places & of_second, "the one that was killed"
