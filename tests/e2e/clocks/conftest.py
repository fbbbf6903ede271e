"""A fleet whose clocks can be moved, each by itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tools.containers.engine import Engine
from tools.containers.fleet import INSTANCES, Fleet, Shape, running_fleet


@pytest.fixture(scope="package")
def fleet(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    shape = Shape({**INSTANCES, "executor": 2}, brokers=1, clocks=True)
    with running_fleet(engine, tmp_path_factory.mktemp("clocks"), shape) as fleet:
        yield fleet
