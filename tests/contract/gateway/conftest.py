"""A world for each test: fast to make, nothing shared."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.contract.gateway.fake_executor import FakeExecutor
from tests.contract.gateway.world import World, world
from tests.issuer import Issuer, an_issuer


@pytest.fixture
async def bare() -> AsyncIterator[World]:
    """Services and a gateway, but no worker."""
    async with world(rest_worker_wait_ms="300") as made:
        yield made


@pytest.fixture
async def cluster(bare: World) -> World:
    """Services, a gateway and one worker."""
    await bare.add_worker()
    return bare


@pytest.fixture
async def worker(bare: World) -> tuple[str, FakeExecutor]:
    """The worker of the world; ask for it together with `bare`."""
    return await bare.add_worker()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    """Somebody who issues tokens, and serves the keys they are checked with."""
    with an_issuer() as made:
        yield made


@pytest.fixture
def rules(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file with the `RULES` of the module."""
    file = tmp_path / "access.toml"
    file.write_text(request.module.RULES)
    return file
