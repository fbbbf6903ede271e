"""One system with one worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from copycat_testkit.kafka import unique

from tests.integration.scenarios.cluster import Cluster


@pytest.fixture(scope="package")
def lone(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Run one worker whose requests end soon; its group is named as that of a sink would be."""
    settings = {
        "group.id": unique("connect-lone"),
        "rest.request.timeout.ms": "6000",
        "task.shutdown.graceful.timeout.ms": "1000",
        "connector.client.config.override.policy": "All",
    }
    with Cluster(kafka, tmp_path_factory.mktemp("lone"), 1, settings).running() as running:
        yield running
