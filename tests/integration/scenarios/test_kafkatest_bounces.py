"""connect_distributed_test of kafkatest: workers are restarted under a running cluster.

Services and task hosts killed under load are the subject of `tests/chaos`.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from copycat_testkit.kafka import unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.files import LineFile
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

TASKS = 3
WORKERS = 3
SERVICES = ("config", "offset", "status", "scheduler", "gateway")


def test_pause_state_persistent(cluster: Cluster, rest: Rest, tmp_path: Path) -> None:
    """What was paused stays paused when all workers are restarted, and so do the services."""
    name = unique("paused")
    file = LineFile(tmp_path / "lines.txt")
    file.append(["before"])
    rest.create(name, file.source(name))
    wait_until(lambda: cluster.values(name) == ["before"], PATIENCE, "a line")
    rest.ok("PUT", f"/connectors/{name}/pause")
    rest.wait(name, "PAUSED", "PAUSED")
    before = rest.get(f"/connectors/{name}/status")
    cluster.restart_at_once("executor", *SERVICES)
    wait_until(lambda: len(rest.workers()) == WORKERS, PATIENCE, "three workers")
    rest.wait(name, "PAUSED", "PAUSED")
    assert rest.get(f"/connectors/{name}/status")["name"] == before["name"]
    assert cluster.values(name) == ["before"]
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name)


def test_file_source_and_sink(cluster: Cluster, rest: Rest, tmp_path: Path) -> None:
    """Lines before and after a rolling restart arrive in order, once."""
    topic = unique("lines")
    read, write = LineFile(tmp_path / "in.txt"), LineFile(tmp_path / "out.txt")
    first, second = ([f"{half} {number}" for number in range(100)] for half in ("first", "second"))
    read.append(first)
    rest.create(f"{topic}-in", read.source(topic))
    rest.create(f"{topic}-out", write.sink(topic))
    write.holds(*first)
    cluster.restart("executor")
    read.append(second)
    write.holds(*first, *second)


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_bounce(cluster: Cluster, rest: Rest, tmp_path: Path, how: signal.Signals) -> None:
    """Workers bounced under load lose no record; those bounced cleanly repeat none either."""
    name = unique("bounced")
    source, sink = Monitor(tmp_path / "source"), Monitor(tmp_path / "sink")
    endless = {"max_messages": "1000000", "messages_per_poll": "5"}
    rest.create(name, source.source(name, tasks_max=str(TASKS), **endless))
    rest.create(f"{name}-sink", sink.sink(name, tasks_max=str(TASKS)))
    rest.runs(name, TASKS)
    wait_until(lambda: len(sink.values()) > 100, PATIENCE, "records before")
    cluster.restart("executor", how)
    wait_until(lambda: len(rest.workers()) == WORKERS, PATIENCE, "every worker is back")
    rest.runs(name, TASKS)
    seen = len(sink.values())
    wait_until(lambda: len(sink.values()) > seen + 100, PATIENCE, "records after")
    rest.ok("PUT", f"/connectors/{name}/stop")
    rest.released(name)
    produced = cluster.values(name)
    wait_until(lambda: set(sink.values()) == set(produced), PATIENCE, "every record at the sink")
    for task in range(TASKS):
        numbers = {int(value.rpartition("-")[2]) for value in produced if f"{name}-{task}-" in value}
        assert numbers == set(range(1, max(numbers) + 1)), "a gap"
    if how == signal.SIGTERM:
        assert len(produced) == len(set(produced)), "a repeated record"
        assert len(sink.values()) == len(produced), "a record delivered again"
