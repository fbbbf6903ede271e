"""One system with three workers for all scenarios of this very folder, and what a test creates on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_embedded.broker import EmbeddedKafka

from tests.integration.guarded.broker import SETTINGS
from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.others import OtherCluster
from tests.integration.scenarios.rest import Rest

WORKERS = 3


@pytest.fixture(scope="package")
def cluster(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Run three workers; a test that takes one away brings it back."""
    settings = {
        "task.shutdown.graceful.timeout.ms": "2000",
        "task.progress.timeout.ms": "2000",
        "metadata.refresh.interval.ms": "500",
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    }
    with Cluster(kafka, tmp_path_factory.mktemp("scenarios"), WORKERS, settings).running() as running:
        yield running


@pytest.fixture
def rest(cluster: Cluster) -> Iterator[Rest]:
    """Drive connectors; what a test leaves behind is deleted."""
    yield cluster.rest
    cluster.rest.clean()


@pytest.fixture
def monitor(tmp_path: Path) -> Monitor:
    """Watch one connector."""
    return Monitor(tmp_path / "monitor")


@pytest.fixture(scope="package")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OtherCluster]:
    """Run another Kafka cluster."""
    folder = tmp_path_factory.mktemp("other-cluster")
    with EmbeddedKafka(folder / "kafka", settings=SETTINGS) as kafka:
        yield OtherCluster(kafka.bootstrap, folder)
