"""What all fleets are made of and used for; each folder has one of its own, of which one runs at a time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tools.containers.engine import Engine, running_engine
from tools.containers.fleet import Fleet
from tools.containers.flow import Flow
from tools.containers.images import build
from tools.containers.strike import Outcomes

WRITE_TABLE = "--write-table"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(WRITE_TABLE, action="store_true", help="keep the measured times in deploy/E2E.md")


@pytest.fixture(scope="package")
def engine() -> Iterator[Engine]:
    with running_engine() as engine:
        with engine.client() as client:
            list(build(client))
        yield engine


@pytest.fixture(scope="module")
def flow(fleet: Fleet) -> Iterator[Flow]:
    """Lines flow through every executor; in the end all of them must have arrived."""
    with Flow(fleet) as flow:
        yield flow
        tally = flow.drain()
        assert not tally.lost


@pytest.fixture(scope="package")
def outcomes(request: pytest.FixtureRequest) -> Iterator[Outcomes]:
    """Gather what failures cost; printed at the end, and kept if that was asked for."""
    outcomes = Outcomes()
    yield outcomes
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        outcomes.show()
    if request.config.getoption(WRITE_TABLE):
        outcomes.write()
