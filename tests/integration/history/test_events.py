"""States, offsets and what Copycat did by itself, as they are shown afterwards."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.history.conftest import Guarded
from tests.integration.history.questions import history, source
from tests.integration.history.test_configurations import copycat
from tests.integration.scenarios.rest import PATIENCE

STRING = "org.apache.kafka.connect.storage.StringConverter"
TEXT = {"key.converter": STRING, "value.converter": STRING}
pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def acts(guarded: Guarded, name: str, what: str) -> list[dict[str, Any]]:
    return [each for each in history(guarded.ann, name, "?kind=act") if each["what"] == what]


def test_a_killed_host_is_told_with_its_reason(guarded: Guarded, kafka: str) -> None:
    name = unique("struck")
    guarded.ann.configure(name, source(guarded, name, create_topic(kafka)))
    guarded.ann.runs(name)
    guarded.cluster.up.kill("host")

    wait_until(lambda: bool(acts(guarded, name, "host died")), PATIENCE, "an act")
    told = acts(guarded, name, "host died")[0]
    assert told["task"] == 0
    assert told["by"]["type"] == "automatic"
    assert "Its host died" in told["reason"]
    guarded.ann.runs(name)
    described = copycat(guarded, "describe", name)
    assert "host died" in described.stdout, described.stdout + described.stderr


def test_a_failure_that_does_not_pass_is_told_with_the_next_step(guarded: Guarded) -> None:
    name = unique("wrong")
    sink = {"connector.class": "FileStreamSink", "file": str(guarded.folder / "no" / "such" / "folder")}
    guarded.ann.configure(name, {**sink, "topics": unique("nothing"), "errors.restart": "transient"})
    guarded.ann.wait(name, "RUNNING", "FAILED")

    wait_until(lambda: bool(acts(guarded, name, "left failed")), PATIENCE, "an act")
    assert acts(guarded, name, "left failed")[0]["about"]["failure"]


def test_a_circuit_that_opens_is_described_until_somebody_restarts_it(guarded: Guarded) -> None:
    name = unique("often")
    sink = {"connector.class": "FileStreamSink", "file": str(guarded.folder / "none" / "such" / "folder")}
    often = {
        "errors.restart": "always",
        "errors.restart.max.per.hour": "1",
        "errors.restart.backoff.ms": "10",
    }
    guarded.ann.configure(name, {**sink, **often, "topics": unique("nothing")})

    wait_until(lambda: bool(acts(guarded, name, "circuit opened")), PATIENCE, "an open circuit")
    restarted, opened = acts(guarded, name, "restarted")[0], acts(guarded, name, "circuit opened")[0]
    assert restarted["about"]["restart"] == 1
    assert opened["about"]["restarts"] == 1
    assert "stays FAILED" in opened["reason"]
    assert "Circuit: no more restarts" in copycat(guarded, "describe", name).stdout

    guarded.ann.ok("POST", f"/connectors/{name}/tasks/0/restart")
    wait_until(lambda: bool(acts(guarded, name, "circuit closed")), PATIENCE, "a closed circuit")


def without_additions(status: dict[str, Any]) -> dict[str, Any]:
    """Return what Kafka Connect's status would have of ours."""
    added = ("since", "generation", "reason")
    root, *tasks = (
        {key: value for key, value in each.items() if key not in added}
        for each in (status["connector"], *status["tasks"])
    )
    return {"name": status["name"], "connector": root, "tasks": tasks, "type": status["type"]}


def test_states_are_told_as_they_were(guarded: Guarded, kafka: str) -> None:
    name = unique("states")
    guarded.ann.configure(name, source(guarded, name, create_topic(kafka)))
    guarded.ann.runs(name)
    running = without_additions(guarded.ann.get(f"/connectors/{name}/status"))
    at = now()
    guarded.bob.ok("PUT", f"/connectors/{name}/pause")
    guarded.ann.wait(name, "PAUSED", "PAUSED")

    assert guarded.ann.get(f"/connectors/{name}/status?at={at}") == running

    def told() -> bool:
        found = history(guarded.ann, name, "?kind=target_state")
        return [each["by"]["name"] for each in found] == ["bob"]

    wait_until(told, PATIENCE, "who paused it")
    paused = history(guarded.ann, name, "?kind=target_state")[0]
    assert [paused["before"], paused["after"]] == ["STARTED", "PAUSED"]


def test_positions_of_a_sink_are_told_as_they_were(guarded: Guarded, kafka: str) -> None:
    name, topic = unique("positions"), create_topic(kafka)
    produce(kafka, topic, [b"line"] * 10)
    out = str(guarded.folder / f"{name}.out")
    guarded.ann.configure(name, {"connector.class": "FileStreamSink", "file": out, "topics": topic, **TEXT})

    def position(query: str = "") -> int | None:
        reply = guarded.ann.call("GET", f"/connectors/{name}/offsets{query}")
        found = reply.json()["offsets"] if reply.is_success else []
        return int(found[0]["offset"]["kafka_offset"]) if found else None

    wait_until(lambda: position() == 10, PATIENCE, "ten records")
    wait_until(lambda: position(f"?at={now()}") == 10, PATIENCE, "a sample of them")
    at = now()
    produce(kafka, topic, [b"one more"])
    wait_until(lambda: position() == 11, PATIENCE, "one more record")
    wait_until(lambda: position(f"?at={now()}") == 11, PATIENCE, "a sample of it")

    assert position(f"?at={at}") == 10


def test_a_time_that_is_none_is_refused_with_its_parameter_and_an_example(guarded: Guarded) -> None:
    name = unique("times")
    guarded.ann.configure(name, source(guarded, name, "first"))
    for path in ("config", "status", "offsets"):
        for wrong in ("yesterday", "2026-11-20", "2999-01-01T00:00Z"):
            reply = guarded.ann.call("GET", f"/connectors/{name}/{path}?at={wrong}")
            assert reply.status_code == 400, (path, wrong, reply.text)
            assert "query parameter at" in reply.json()["message"]
            assert "at=2026-11-20T10:00Z" in reply.json()["message"]
