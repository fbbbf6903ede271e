"""One system with one worker, and a connector on it whose records must flow whatever others do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_testkit.kafka import create_topic, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.rest import PATIENCE

AUTHOR = Path(__file__).with_name("author")
MEMORY_MAX = 400 << 20
#: What config providers give: a word, and what is too short to be looked for in any text.
LEAKED, CODE = "word that nobody may see 91", "q7"


class Neighbour:
    """A normal connector of the same worker."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._topic = create_topic(cluster.bootstrap, unique("neighbour"))
        converter = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}
        config = {"connector.class": "HarmfulSource", "topic": self._topic, "tasks.max": "1", **converter}
        cluster.rest.create(self._topic, config)
        cluster.rest.runs(self._topic)
        self._place = self._task()

    def flows(self) -> None:
        """See that records go on to come, from the start of its task that was the first."""
        before = len(self._cluster.values(self._topic))
        wait_until(lambda: len(self._cluster.values(self._topic)) > before + 5, PATIENCE, "records flow")
        assert self._task() == self._place
        assert self._cluster.values(self._topic).count("1") == 1, "its task was started again"

    def _task(self) -> str:
        return str(self._cluster.rest.get(f"/connectors/{self._topic}/status")["tasks"])


@pytest.fixture(scope="module")
def worker(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Run one worker with small bounds."""
    settings = {
        "task.memory.max": str(MEMORY_MAX),
        "task.shutdown.graceful.timeout.ms": "1000",
        "plugin.call.timeout.ms": "30000",
        "host.linger.ms": "1000",
        "config.providers": "env",
        "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    }
    environment = {"PYTHONPATH": str(AUTHOR), "COPYCAT_LEAKED": LEAKED, "COPYCAT_CODE": CODE}
    folder = tmp_path_factory.mktemp("isolation")
    with Cluster(kafka, folder, 1, settings, environment, spark=True).running() as running:
        yield running


@pytest.fixture(scope="module")
def neighbour(worker: Cluster) -> Iterator[Neighbour]:
    """Run a normal connector all the while."""
    yield Neighbour(worker)
    worker.rest.clean()
