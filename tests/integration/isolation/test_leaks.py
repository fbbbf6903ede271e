"""A plugin that shows secrets in every way there is: nobody sees one, and each line names the connector."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from copycat_testkit.kafka import consume_all, unique, wait_until

from tests.integration.isolation.conftest import CODE, LEAKED, Neighbour
from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.rest import PATIENCE

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

#: What the logs may hold of 300 MB that one plugin printed, beside all else.
MAX_LOG_BYTES = 12_000_000
WAYS = (
    *("log of a thread", "thread", "base", "print", "stderr", "warning", "finalizer", "descriptor", "C"),
    *("child process", "base64", "log of an error"),
)
SPELLINGS = (LEAKED, base64.b64encode(f"me:{LEAKED}".encode()).decode()[4:-4], LEAKED.replace(" ", "%20"))
PLACEHOLDER = "${env:COPYCAT_LEAKED}"


class Leaking:
    """The connector, once it has failed."""

    def __init__(self, worker: Cluster, folder: Path) -> None:
        self.name, self.worker = unique("leaking"), worker
        self.done = folder / "done"
        config = {"connector.class": "LeakingSource", "word": PLACEHOLDER, "done": str(self.done)}
        worker.rest.create(self.name, {**config, "errors.restart": "off", "tasks.max": "1"})
        wait_until(self._failed, 3 * PATIENCE, "the task has failed")

    def status(self) -> Mapping[str, str]:
        tasks = self.worker.rest.get(f"/connectors/{self.name}/status")["tasks"]
        return dict(tasks[0]) if tasks else {}

    def lines(self) -> list[dict[str, str]]:
        """The lines of the executor's log that are about what author code wrote."""
        found = [json.loads(line) for line in self.worker.log("executor").splitlines()]
        loggers = {"stdout", "stderr", "output", "plugin", "py.warnings", "leaking"}
        return [line for line in found if line["logger"] in loggers]

    def told(self) -> str:
        """All that leaves the processes with author code."""
        paths = ("", "/config", "/tasks", "/tasks-config", "/status", "/topics", "/offsets", "/history")
        rest = self.worker.rest
        told = [rest.call("GET", f"/connectors/{self.name}{path}").text for path in paths]
        told.append(rest.call("GET", "/connectors?expand=info&expand=status").text)
        for topic in ("configs", "offsets", "status", "assignments", "changes"):
            read = consume_all(self.worker.bootstrap, self.worker.topic(topic))
            told += [str(part) for message in read for part in (message.key(), message.value())]
        files = [each for each in self.worker.folder.rglob("*") if each.is_file() and "log" in each.name]
        return "\n".join([*told, *(file.read_text(errors="replace") for file in files)])

    def _failed(self) -> bool:
        return self.done.exists() and self.status().get("state") == "FAILED"


@pytest.fixture(scope="module")
def leaking(
    worker: Cluster, neighbour: Neighbour, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Leaking]:
    """Run the connector beside a normal one."""
    yield Leaking(worker, tmp_path_factory.mktemp("leaking"))
    neighbour.flows()


def test_nothing_that_leaves_a_process_shows_the_secret(leaking: Leaking) -> None:
    told = leaking.told()
    assert not [each for each in SPELLINGS if each in told]
    assert f"cannot log in with {PLACEHOLDER}" in leaking.status()["trace"]


@pytest.mark.parametrize("where", ["connector", "task"])
@pytest.mark.parametrize("way", WAYS)
def test_each_line_is_there_with_the_placeholder_and_the_connector(
    leaking: Leaking, where: str, way: str
) -> None:
    said = f"{where} {way} {PLACEHOLDER}" if way != "base64" else f"{where} base64"
    lines = [line for line in leaking.lines() if said in line["message"] + line.get("trace", "")]
    assert lines, f"{said} is not in the log"
    for line in lines:
        assert leaking.name in line.get("connector", line.get("connectors", ""))


def test_what_is_printed_beyond_bounds_is_left_out_and_the_log_says_so(leaking: Leaking) -> None:
    log = leaking.worker.log("executor")
    assert len(log) < MAX_LOG_BYTES
    assert "plugins print or log too much" in log


def test_a_refusal_shows_no_value_of_a_provider_however_short(worker: Cluster) -> None:
    config = {"connector.class": "LeakingSource", "name": "refused", "code": "${env:COPYCAT_CODE}"}
    validated = worker.rest.call("PUT", "/connector-plugins/LeakingSource/config/validate", config)
    refused = worker.rest.call("POST", "/connectors", {"name": "refused", "config": config})

    assert "${env:COPYCAT_CODE} is no code" in validated.text
    assert refused.status_code == 400
    assert "${env:COPYCAT_CODE} is no code" in refused.text
    assert CODE not in validated.text + refused.text
