"""A fleet whose hosts run on a Spark cluster of two workers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from copycat_testkit.cluster import ROLES

from tools.containers.engine import Engine
from tools.containers.fleet import Fleet, Shape, running_fleet

SPARK_WORKERS = 2


@pytest.fixture(scope="package")
def fleet(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    shape = Shape(dict.fromkeys(ROLES, 1), brokers=1, spark_workers=SPARK_WORKERS)
    with running_fleet(engine, tmp_path_factory.mktemp("spark"), shape) as fleet:
        yield fleet
