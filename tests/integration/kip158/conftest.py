"""One broker and one host for all of KIP-158 that needs no more than tasks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from copycat_embedded.broker import EmbeddedKafka

from tests.integration.emitting.bench import Bench, bench

BROKER_PARTITIONS = 7
BROKER = {"num.partitions": str(BROKER_PARTITIONS), "default.replication.factor": "1"}


@pytest.fixture(scope="package")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A broker with a number of partitions nobody would ask for."""
    with EmbeddedKafka(tmp_path_factory.mktemp("kip158"), settings=BROKER) as kafka:
        yield kafka.bootstrap


@pytest.fixture(scope="package")
def tasks(broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Tasks on that broker."""
    with bench(broker, tmp_path_factory.mktemp("tasks")) as running:
        yield running
