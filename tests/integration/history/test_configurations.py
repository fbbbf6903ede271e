"""What a connector was configured as, and who changed it, on a real broker."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka.admin import AdminClient
from copycat_testkit.commands import COPYCAT
from copycat_testkit.kafka import unique, wait_until

from tests.integration.history.conftest import Guarded
from tests.integration.history.questions import history, source, told
from tests.integration.scenarios.rest import PATIENCE

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


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
