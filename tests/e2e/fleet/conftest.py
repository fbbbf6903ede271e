"""The fleet of this folder, on images built from the tree as it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tools.containers.engine import Engine
from tools.containers.fleet import Fleet, running_fleet


@pytest.fixture(scope="package")
def fleet(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with running_fleet(engine, tmp_path_factory.mktemp("fleet")) as fleet:
        yield fleet
