"""A plugin that hangs, spins, crashes, leaks, prints or forks harms only its own connector."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.isolation.conftest import Neighbour
from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.rest import PATIENCE

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

SOURCE, SINK = "HarmfulSource", "HarmfulSink"
#: What a log may hold after gigabytes were printed.
MAX_LOG_BYTES = 20_000_000
GIVEN_UP = "Request timed out. The worker is currently starting the connector"
ALONE = "ended the process that it ran in, where nothing else ran"


@dataclass(frozen=True)
class Case:
    """One harm."""

    plugin: str
    call: str
    harm: str
    when_deleted: bool = False
    """It is done when the connector is deleted, not before."""
    trace: str = ""
    """What the status of the task says, where it fails."""

    connector_trace: str = ""
    """What the status of the connector says, where that fails."""

    def __str__(self) -> str:
        return f"{self.plugin}-{self.call}-{self.harm}"


CASES = [
    Case(SOURCE, "start", "hangs"),
    Case(SOURCE, "start", "spins"),
    Case(SOURCE, "poll", "hangs"),
    Case(SOURCE, "poll", "spins"),
    Case(SOURCE, "poll", "exits"),
    Case(SOURCE, "poll", "prints"),
    Case(SOURCE, "poll", "forks"),
    Case(SOURCE, "poll", "leaks", trace="task.memory.max allows 400 MB"),
    Case(SOURCE, "stop", "hangs", when_deleted=True),
    Case(SINK, "put", "hangs"),
    Case(SINK, "put", "spins"),
    Case(SINK, "put", "leaks", trace="task.memory.max allows 400 MB"),
    Case(SINK, "close", "hangs", when_deleted=True),
    Case(SINK, "close", "spins", when_deleted=True),
    Case(SOURCE, "connector.start", "hangs", connector_trace=GIVEN_UP),
    Case(SOURCE, "connector.start", "exits", connector_trace=ALONE),
    Case(SOURCE, "connector.start", "backtracks", connector_trace=ALONE),
    Case(SOURCE, "connector.task_configs", "spins"),
    Case(SOURCE, "connector.stop", "hangs", when_deleted=True),
]


class Harm:
    """A connector that does harm, and where."""

    def __init__(self, worker: Cluster, case: Case, folder: Path) -> None:
        self._worker = worker
        self._case = case
        self._journal = folder / "journal"
        self.name = unique("harm")
        topic = create_topic(worker.bootstrap, unique("records"))
        produce(worker.bootstrap, topic, [b"1"])
        harm = {"harm": f"{case.call} {case.harm}", "journal": str(self._journal), "errors.restart": "off"}
        more = {"topics": topic} if case.plugin == SINK else {}
        converter = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}
        config = {"connector.class": case.plugin, "tasks.max": "1", **harm, **more, **converter}
        worker.rest.create(self.name, config)

    def delete(self) -> None:
        self._worker.rest.ok("DELETE", f"/connectors/{self.name}")

    def runs(self) -> None:
        self._worker.rest.runs(self.name)

    def is_done(self) -> None:
        wait_until(self._journal.exists, PATIENCE, f"{self._case} is done")

    def says(self, text: str) -> None:
        path = f"/connectors/{self.name}/status"

        def said() -> bool:
            tasks = self._worker.rest.get(path)["tasks"]
            return bool(tasks) and text in tasks[0].get("trace", "")

        wait_until(said, PATIENCE, f"the status says {text}")

    def connector_says(self, text: str) -> None:
        path = f"/connectors/{self.name}/status"

        def said() -> bool:
            reply = self._worker.rest.call("GET", path)  # 404 before it has a status
            return reply.is_success and text in reply.json()["connector"].get("trace", "")

        wait_until(said, PATIENCE, f"the status says {text}")

    def is_over(self) -> None:
        """Wait until no process of its tasks is left, nor any that they forked."""
        if not self._case.call.startswith("connector."):
            processes = {int(line.split()[1]) for line in self._journal.read_text().splitlines()}
            wait_until(lambda: not any(map(_runs, processes)), PATIENCE, f"{processes} have ended")


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def others_are_answered(worker: Cluster) -> None:
    """See that the configuration of another connector is validated meanwhile, however the harm goes on."""
    config = {"connector.class": SOURCE, "name": unique("other"), "topic": "t", "tasks.max": "1"}
    found = worker.rest.ok("PUT", f"/connector-plugins/{SOURCE}/config/validate", config)
    assert found["error_count"] == 0


@pytest.mark.parametrize("case", CASES, ids=str)
def test_harm_stays_with_its_connector(
    worker: Cluster, neighbour: Neighbour, case: Case, tmp_path: Path
) -> None:
    harm = Harm(worker, case, tmp_path)
    if case.when_deleted:
        harm.runs()
        harm.delete()
    harm.is_done()
    others_are_answered(worker)
    neighbour.flows()
    if case.trace:
        harm.says(case.trace)
    if case.connector_trace:
        harm.connector_says(case.connector_trace)
    if not case.when_deleted:
        harm.delete()
    harm.is_over()
    neighbour.flows()


def test_gigabytes_that_were_printed_are_not_in_the_log(worker: Cluster, tmp_path: Path) -> None:
    harm = Harm(worker, Case(SOURCE, "poll", "prints"), tmp_path)
    harm.is_done()
    wait_until(lambda: "print or log too much" in worker.log("executor"), PATIENCE, "the log says so")
    harm.delete()
    harm.is_over()
    assert len(worker.log("executor")) < MAX_LOG_BYTES
