"""The image that small.yaml and standalone.yaml run, built from the tree as it is."""

from __future__ import annotations

import pytest

from tools.containers.engine import Engine
from tools.containers.images import build


@pytest.fixture(scope="package")
def built(engine: Engine) -> Engine:
    """Give the engine, with the image of a worker beside those of the services."""
    with engine.client() as client:
        list(build(client, ["worker"]))
    return engine
