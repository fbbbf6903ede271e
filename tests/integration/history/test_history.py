"""The past of connectors: configurations and who changed them, states, offsets, and what healed by itself."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from copycat_testkit.commands import COPYCAT
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

BASIC_AUTH = "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"


@dataclass(frozen=True)
class Guarded:
    """A system that ann and bob may use."""

    cluster: Cluster
    url: str
    ann: Rest
    bob: Rest
    folder: Path


@pytest.fixture(scope="module")
def guarded(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """Run it."""
    folder = tmp_path_factory.mktemp("history")
    users = folder / "users.properties"
    users.write_text("ann=s3cret\nbob=s4cret\n")
    settings = {
        "rest.extension.classes": BASIC_AUTH,
        "rest.basic.auth.file": str(users),
        "changes.offsets.interval.ms": "1000",
    }
    with Cluster(kafka, folder / "data", 1, settings).running() as running:
        url = running.up.url
        ann, bob = (Rest(url.replace("//", f"//{user}@")) for user in ("ann:s3cret", "bob:s4cret"))
        wait_until(lambda: ann.succeeds("/health"), PATIENCE, "a healthy system")
        yield Guarded(running, url, ann, bob, folder)
        ann.clean()


def source(guarded: Guarded, name: str, topic: str) -> dict[str, str]:
    """Return the configuration of a source of lines."""
    file = guarded.folder / f"{name}.txt"
    file.touch()
    return {"connector.class": "FileStreamSource", "file": str(file), "topic": topic, "tasks.max": "1"}


def history(rest: Rest, name: str, query: str = "") -> list[dict[str, Any]]:
    """Return a page of changes, newest first."""
    found: dict[str, Any] = rest.get(f"/connectors/{name}/history{query}")
    return list(found["changes"])


def told(rest: Rest, name: str, count: int, query: str) -> list[dict[str, Any]]:
    """Wait until so many changes are known, and who asked for each: they are kept in the background."""
    found: list[dict[str, Any]] = []

    def known() -> bool:
        if rest.call("GET", f"/connectors/{name}/history{query}").status_code != 200:
            return False
        found[:] = history(rest, name, query)
        return len(found) == count and all(each["by"]["type"] != "unknown" for each in found)

    wait_until(known, PATIENCE, f"{count} changes of {name}")
    return found


def copycat(guarded: Guarded, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of ours as bob; nobody can be asked."""
    return subprocess.run(
        [COPYCAT, *words],
        env={**os.environ, "COPYCAT_URL": guarded.url, "COPYCAT_USER": "bob:s4cret"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def test_changes_of_a_configuration_say_who_made_them_and_what_was_before(guarded: Guarded) -> None:
    name = unique("told")
    guarded.ann.configure(name, source(guarded, name, "first"))
    guarded.bob.configure(name, source(guarded, name, "second"))

    second, first = told(guarded.ann, name, 2, "?kind=config")
    assert [second["what"], first["what"]] == ["configured", "created"]
    assert [first["by"]["type"], first["by"]["name"], second["by"]["name"]] == ["user", "ann", "bob"]
    assert first["before"] is None
    assert second["before"] == first["after"]
    assert second["after"] == guarded.ann.get(f"/connectors/{name}/config")
    assert guarded.ann.get(f"/connectors/{name}/config?at={first['time']}") == first["after"]


def test_a_connector_is_rolled_back_to_what_it_was_and_the_command_asks_first(guarded: Guarded) -> None:
    name = unique("back")
    guarded.ann.configure(name, source(guarded, name, "first"))
    guarded.ann.configure(name, source(guarded, name, "second"))
    then = told(guarded.ann, name, 2, "?kind=config")[1]["time"]

    shown = copycat(guarded, "diff", name, "--at", then, "-o", "json")
    unasked = copycat(guarded, "rollback", name, "--to", then)
    after_unasked = guarded.ann.get(f"/connectors/{name}/config")["topic"]
    done = copycat(guarded, "rollback", name, "--to", then, "--yes")

    assert shown.returncode == 1, shown.stderr
    assert json.loads(shown.stdout)["changes"] == [{"key": "topic", "before": "first", "after": "second"}]
    assert unasked.returncode != 0
    assert after_unasked == "second"
    assert done.returncode == 0, done.stderr
    assert guarded.ann.get(f"/connectors/{name}/config")["topic"] == "first"
    assert told(guarded.ann, name, 3, "?kind=config")[0]["by"]["name"] == "bob"
    said = copycat(guarded, "history", name, "--kind", "config")
    assert said.stdout.count("configured: topic") == 2, said.stdout


def test_a_deleted_connector_keeps_its_history_and_an_unknown_one_has_none(guarded: Guarded) -> None:
    name = unique("gone")
    guarded.ann.configure(name, source(guarded, name, "first"))
    created = told(guarded.ann, name, 1, "?kind=config")[0]
    guarded.ann.delete(name)

    deleted = told(guarded.ann, name, 2, "?kind=config")[0]
    assert [deleted["what"], deleted["after"]] == ["deleted", None]
    assert guarded.ann.get(f"/connectors/{name}/config?at={created['time']}") == created["after"]
    assert guarded.ann.call("GET", f"/connectors/{name}/config").status_code == 404
    assert guarded.ann.call("GET", f"/connectors/{name}/config?at={deleted['time']}").status_code == 404
    unknown = guarded.ann.call("GET", "/connectors/nobody-made-this/history")
    assert [unknown.status_code, unknown.json()["message"]] == [
        404,
        "Connector nobody-made-this not found",
    ]


def test_pages_follow_each_other_without_a_gap(guarded: Guarded) -> None:
    name = unique("pages")
    for number in range(5):
        guarded.ann.configure(name, source(guarded, name, f"topic-{number}"))
    whole = [each["id"] for each in told(guarded.ann, name, 5, "?kind=config")]

    found: list[str] = []
    query = ""
    while len(found) < 5:
        page = guarded.ann.get(f"/connectors/{name}/history?kind=config&limit=2{query}")
        found += [each["id"] for each in page["changes"]]
        query = f"&before={page['next']}"

    assert found == whole


def test_both_gateways_tell_the_same_and_remember_each_others_users(guarded: Guarded) -> None:
    name = unique("two")
    with guarded.cluster.gateway({"rest.extension.classes": ""}) as other:
        with ThreadPoolExecutor(2) as pool:
            made = [
                pool.submit(rest.configure, name, source(guarded, name, topic))
                for rest, topic in ((guarded.ann, "one"), (other, "other"))
            ]
            for each in made:
                each.result()
        first = told(guarded.ann, name, 2, "?kind=config")
        assert told(other, name, 2, "?kind=config") == first
        assert {each["by"]["name"] for each in first} == {"ann", None}


def test_without_the_changes_topic_the_log_tells_what_it_still_has(guarded: Guarded) -> None:
    name = unique("lost")
    guarded.ann.configure(name, source(guarded, name, "first"))
    guarded.ann.configure(name, source(guarded, name, "second"))
    told(guarded.ann, name, 2, "?kind=config")

    admin = AdminClient({"bootstrap.servers": guarded.cluster.bootstrap})
    admin.delete_topics([guarded.cluster.topic("changes")])[guarded.cluster.topic("changes")].result()

    def nobody_is_known() -> bool:
        found = history(guarded.ann, name, "?kind=config")
        return [each["by"]["type"] for each in found] == ["unknown", "unknown"]

    wait_until(nobody_is_known, PATIENCE, "the history from the log alone")
    assert [each["after"]["topic"] for each in history(guarded.ann, name, "?kind=config")] == [
        "second",
        "first",
    ]

    guarded.bob.configure(name, source(guarded, name, "third"))

    def remembered_again() -> bool:
        newest = history(guarded.ann, name, "?kind=config")[0]
        return bool(newest["after"]["topic"] == "third" and newest["by"]["name"] == "bob")

    wait_until(remembered_again, PATIENCE, "a changes topic made anew")


STRING = "org.apache.kafka.connect.storage.StringConverter"
TEXT = {"key.converter": STRING, "value.converter": STRING}


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
