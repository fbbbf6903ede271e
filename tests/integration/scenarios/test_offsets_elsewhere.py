"""OffsetsApiIntegrationTest: sources that keep their offsets themselves, here or on another cluster.

| scenario | where |
| --- | --- |
| test{Get,Alter,Reset}SourceConnectorOffsetsCustomOffsetsTopic | `at_home` |
| test{Get,Alter,Reset}SourceConnectorOffsetsDifferentKafkaClusterTargeted | `elsewhere` |
| test{Alter,Reset}SourceConnectorOffsetsExactlyOnceSupportEnabled | `exactly_once`, which also fences |
"""

from __future__ import annotations

import json

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from copycat_testkit.kafka import CLIENT_SECONDS, consume_all, unique, wait_until

from tests.integration.guarded.broker import PASSWORDS
from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.others import OtherCluster
from tests.integration.scenarios.rest import PATIENCE, Rest
from tests.integration.scenarios.test_offsets_api import MANAGED, Offsets, saved

pytestmark = pytest.mark.timeout(300)
CLIENTS = ("producer", "consumer", "admin")
TWICE = 2
PLACES = ("at_home", "at_home, exactly_once", "elsewhere", "elsewhere, exactly_once", "shared, exactly_once")


def copied(cluster: Cluster, name: str) -> dict[str, int]:
    """Return what the worker's topic has of a source, by task."""
    found: dict[str, int | None] = {}
    for message in consume_all(cluster.bootstrap, cluster.topic("offsets")):
        key = json.loads(message.key() or b"[]")
        if key and key[0] == name and key[1]:
            value = message.value()
            found[key[1]["task.id"]] = None if value is None else json.loads(value)["saved"]
    return {task: number for task, number in found.items() if number is not None}


def keeps(other: OtherCluster, name: str, place: str) -> dict[str, str]:
    """Return the keys of a connector that keeps its offsets in some place."""
    keys = {} if "shared" in place else {"offsets.storage.topic": f"{name}-offsets"}
    if "exactly_once" in place:
        keys |= {"delivery.guarantee": "exactly_once", "exactly.once": "supported"}
    if "elsewhere" in place:
        other.admin.create_topics([NewTopic(name, 1, 1)])[name].result(PATIENCE)
        for client in CLIENTS:
            keys |= other.overrides(client)
    return keys


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.row("K875-20", "K875-30", "K875-31", "K875-T11", "K875-T12")
def test_offsets_that_a_source_keeps_itself_are_shown_altered_and_reset(
    cluster: Cluster, rest: Rest, monitor: Monitor, other: OtherCluster, place: str
) -> None:
    name = unique("source")
    own, tasks = f"{name}-offsets", (f"{name}-0", f"{name}-1")
    config = monitor.source(name, tasks_max="2") | keeps(other, name, place)
    offsets = Offsets(rest, name)
    for messages in (10, 20):
        rest.configure(name, {**config, "max.messages": str(messages)})
        offsets.become(saved(name, messages, messages))
    wait_until(lambda: copied(cluster, name) == dict.fromkeys(tasks, 20), PATIENCE, "copied")
    at_home = AdminClient({"bootstrap.servers": cluster.bootstrap})
    for admin, has_it in ((at_home, "at_home" in place), (other.admin, "elsewhere" in place)):
        assert (own in admin.list_topics(timeout=CLIENT_SECONDS).topics) is has_it

    offsets.turn("stop", "STOPPED")
    assert offsets.modify("PATCH", saved(name, 5, 5)).startswith(f"{MANAGED} altered successfully.")
    offsets.become(saved(name, 5, 5))
    assert copied(cluster, name) == dict.fromkeys(tasks, 5)
    offsets.turn("resume", *["RUNNING"] * 3)
    offsets.become(saved(name, 20, 20))
    offsets.turn("stop", "STOPPED")
    for _ in range(TWICE):
        assert offsets.modify("DELETE").startswith(f"{MANAGED} reset successfully.")
        offsets.become(saved(name))
    assert copied(cluster, name) == {}
    offsets.turn("resume", *["RUNNING"] * 3)
    offsets.become(saved(name, 20, 20))
    for text in (rest.get(f"/connectors/{name}"), rest.get(f"/connectors/{name}/offsets")):
        assert PASSWORDS["admin"] not in str(text)
