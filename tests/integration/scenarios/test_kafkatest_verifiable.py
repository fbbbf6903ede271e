"""Kafka's connectors for tests, checked as kafkatest does: by the lines they print, and by their failures.

`test_bounce` and `test_restart_failed_*` of connect_distributed_test, and its helpers `VerifiableSource`,
`VerifiableSink` and `MockSink`, whose configurations are those here.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from copycat_testkit.kafka import create_topic, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.conftest import WORKERS
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = pytest.mark.timeout(300)

TOOLS = "org.apache.kafka.connect.tools"
JSON = {f"{side}.converter": "org.apache.kafka.connect.json.JsonConverter" for side in ("key", "value")}
TASKS = 2


def printed(cluster: Cluster, name: str) -> list[dict[str, Any]]:
    """Return what a connector's tasks printed, worker by worker: the JSON that bears its name."""
    found = []
    logs = ("executor", *(f"executor-{number}" for number in range(2, WORKERS + 1)))
    for line in (line for log in logs for line in cluster.log(log).splitlines() if line.startswith("{")):
        try:
            data = json.loads(line)
        except ValueError:
            continue  # the worker's own
        if data.get("name") == name:
            found.append(data)
    return found


def numbers(lines: list[dict[str, Any]], mark: str = "") -> dict[int, list[int]]:
    """Return the numbers of each source task in the order of the lines: those with a mark, or without any."""
    found: dict[int, list[int]] = {task: [] for task in range(TASKS)}
    for line in lines:
        if line.get(mark) if mark else not {"committed", "flushed"} & line.keys():
            found[line["task"]].append(line["seqno"])
    return found


def test_no_number_is_left_out_or_sent_twice_by_a_source_that_is_resumed(
    cluster: Cluster, rest: Rest
) -> None:
    """A source that is stopped and resumed goes on with the next number; the sink flushes them all."""
    topic = create_topic(cluster.bootstrap, partitions=TASKS)
    source, sink = unique("verifiable-source"), unique("verifiable-sink")
    both = {"tasks.max": str(TASKS), **JSON}
    rest.create(
        source,
        {
            "connector.class": f"{TOOLS}.VerifiableSourceConnector",
            "topic": topic,
            "throughput": "100",
            **both,
        },
    )
    rest.create(sink, {"connector.class": f"{TOOLS}.VerifiableSinkConnector", "topics": topic, **both})

    def committed() -> dict[int, list[int]]:
        return numbers(printed(cluster, source), "committed")

    wait_until(lambda: all(committed().values()), PATIENCE, "numbers of both tasks")
    rest.ok("PUT", f"/connectors/{source}/stop")
    rest.wait(source, "STOPPED")
    rest.released(source)
    before = {task: max(found) for task, found in committed().items()}
    rest.ok("PUT", f"/connectors/{source}/resume")
    wait_until(
        lambda: all(max(found) > before[task] + 10 for task, found in committed().items()),
        PATIENCE,
        "numbers that follow",
    )
    rest.ok("PUT", f"/connectors/{source}/stop")
    rest.wait(source, "STOPPED")
    rest.released(source)

    sent, safe = numbers(printed(cluster, source)), committed()
    for task in range(TASKS):
        assert sorted(sent[task]) == list(range(len(sent[task])))
        assert sorted(safe[task]) == sorted(sent[task])

    def flushed() -> dict[int, list[int]]:
        return {
            task: sorted(set(found)) for task, found in numbers(printed(cluster, sink), "flushed").items()
        }

    wait_until(
        lambda: flushed() == {task: sorted(safe[task]) for task in safe}, PATIENCE, "all of them flushed"
    )


@pytest.mark.parametrize(
    ("mode", "states"),
    [("connector-failure", ("FAILED", "RUNNING")), ("task-failure", ("RUNNING", "FAILED"))],
)
def test_a_mock_fails_as_it_is_told(cluster: Cluster, rest: Rest, mode: str, states: tuple[str, str]) -> None:
    """Each mode fails its half of a source, and of a sink whose topic is empty."""
    order = {"mock_mode": mode, "delay_ms": "500", "tasks.max": "1"}
    source, sink = unique("mock-source"), unique("mock-sink")
    rest.create(source, {"connector.class": f"{TOOLS}.MockSourceConnector", **order})
    topic = create_topic(cluster.bootstrap)
    rest.create(sink, {"connector.class": f"{TOOLS}.MockSinkConnector", "topics": topic, **order})
    for name in (source, sink):
        rest.wait(name, *states)
        halves = rest.get(f"/connectors/{name}/status")
        failed = next(each for each in (halves["connector"], *halves["tasks"]) if each["state"] == "FAILED")
        assert f"mock_mode={mode}, delay_ms=500" in failed["trace"]
