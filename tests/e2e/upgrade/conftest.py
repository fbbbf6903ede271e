"""A fleet on the images of the last release."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tools.containers.engine import Engine
from tools.containers.fleet import INSTANCES, Fleet, Shape, running_fleet
from tools.containers.images import build
from tools.containers.released import released_commit, released_tree


@pytest.fixture(scope="package")
def version(engine: Engine) -> str:
    """Build the images of the release; their tag."""
    version = released_commit()[:12]
    with engine.client() as client:
        list(build(client, tree=released_tree(), version=version))
    return version


@pytest.fixture(scope="package")
def fleet(engine: Engine, version: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    shape = Shape({**INSTANCES, "executor": 2}, brokers=1, version=version)
    with running_fleet(engine, tmp_path_factory.mktemp("upgrade"), shape) as fleet:
        yield fleet
