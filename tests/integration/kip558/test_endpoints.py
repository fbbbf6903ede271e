"""KIP-558: reading and resetting active topics, and how they live with their connector."""

from __future__ import annotations

import pytest
from copycat_testkit.kafka import create_topic, produce, unique

from tests.integration.emitting.system import System, reset

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


@pytest.mark.parametrize("row", ["k558_16", "k558_17"])
def test_topics_are_shown_under_the_connectors_name(on: System, row: str) -> None:
    one, two = unique(row), unique(row)
    name = on.emitter("", one, two)
    on.has_topics(name, one, two)

    reply = on.rest.call("GET", f"/connectors/{name}/topics")

    ways = [f'{{"{name}":{{"topics":["{a}","{b}"]}}}}'.encode() for a, b in ((one, two), (two, one))]
    assert (reply.status_code, reply.content in ways) == (200, True)


def test_k558_18_a_name_never_used_has_no_topics(on: System) -> None:
    reply = on.rest.call("GET", "/connectors/never-used/topics")

    assert (reply.status_code, reply.content) == (200, b'{"never-used":{"topics":[]}}')


def test_k558_19_a_reset_is_accepted_without_a_word(on: System) -> None:
    assert reset(on.rest, "never-used") == (202, b"")


def test_k558_19_strictly_a_reset_is_ok_without_a_word(on: System) -> None:
    with on.cluster.gateway({"kip.strict": "true"}) as strict:
        assert reset(strict, "never-used") == (200, b"")


def test_k558_20_a_reset_writes_a_tombstone_for_each_topic(on: System) -> None:
    topics = [unique("k558-20") for _ in range(3)]
    name = on.emitter("", *topics)
    on.has_topics(name, *topics)

    reset(on.rest, name)

    on.has_topics(name)
    assert [on.records_of(topic, name)[-1] for topic in topics] == [None] * 3


def test_k558_21_after_a_reset_topics_in_use_come_back_and_others_do_not(on: System) -> None:
    live, idle = unique("live"), unique("idle")
    name = on.emitter("", live, idle)
    on.has_topics(name, live, idle)

    reset(on.rest, name)
    on.emit(name, live)

    on.has_topics(name, live)


def test_k558_21_a_sinks_topic_in_use_comes_back_after_a_reset(on: System) -> None:
    live, idle = create_topic(on.cluster.bootstrap), create_topic(on.cluster.bootstrap)
    for topic in (live, idle):
        produce(on.cluster.bootstrap, topic, [b"v"])
    name = on.sink(unique("sink"), topics=f"{live},{idle}")
    on.has_topics(name, live, idle)

    reset(on.rest, name)
    produce(on.cluster.bootstrap, live, [b"v"])

    on.has_topics(name, live)


def test_k558_22_a_stopped_and_a_deleted_connector_can_be_reset(on: System) -> None:
    topic = unique("k558-22")
    name = on.emitter("", topic)
    on.has_topics(name, topic)
    on.rest.ok("PUT", f"/connectors/{name}/stop")
    on.rest.wait(name, "STOPPED")
    on.has_topics(name, topic)

    assert reset(on.rest, name) == (202, b"")
    on.has_topics(name)
    on.rest.delete(name)

    assert reset(on.rest, name) == (202, b"")


def test_k558_27_a_restart_changes_nothing(on: System) -> None:
    topic = unique("k558-27")
    name = on.emitter("", topic)
    on.has_topics(name, topic)
    written = on.records_of(topic, name)

    on.rest.ok("POST", f"/connectors/{name}/restart")
    on.rest.ok("POST", f"/connectors/{name}/restart?includeTasks=true")
    on.rest.runs(name)

    assert on.topics(name) == {topic}
    assert on.records_of(topic, name) == written


def test_k558_28_another_configuration_changes_nothing_until_a_reset(on: System) -> None:
    former, present = create_topic(on.cluster.bootstrap), create_topic(on.cluster.bootstrap)
    produce(on.cluster.bootstrap, former, [b"v"])
    name = on.sink(unique("sink"), topics=former)
    on.has_topics(name, former)

    on.sink(name, topics=present)
    produce(on.cluster.bootstrap, present, [b"v"])
    on.has_topics(name, former, present)
    reset(on.rest, name)
    produce(on.cluster.bootstrap, present, [b"v"])

    on.has_topics(name, present)


def test_k558_30_what_an_interrupted_deletion_left_another_reset_removes(on: System) -> None:
    name, left = unique("deleted"), unique("left")
    value = f'{{"topic":{{"name":"{left}","connector":"{name}","task":0,"discoverTimestamp":1}}}}'
    key = f"status-topic-{left}:connector-{name}"
    produce(on.cluster.bootstrap, on.cluster.topic("status"), [value.encode()], key.encode())
    on.has_topics(name, left)

    reset(on.rest, name)

    on.has_topics(name)


def test_a_connector_deleted_while_it_writes_leaves_no_topic_behind(on: System) -> None:
    topic = unique("busy")
    name = on.emitter("", *[topic] * 1000)
    on.has_topics(name, topic)

    on.emit(name, *[topic] * 1000)
    on.rest.delete(name)

    on.has_topics(name)
