"""KIP-558: what is recorded, when, and how it stands in the status topic."""

from __future__ import annotations

import signal
import time

import pytest
from confluent_kafka.admin import AdminClient
from copycat_connect.plugin import SinkConnector, SinkTask, SourceConnector, SourceTask
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.emitting.bench import System
from tests.integration.scenarios.rest import PATIENCE

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

ROUTE = {
    "transforms": "route",
    "transforms__route__type": "org.apache.kafka.connect.transforms.RegexRouter",
    "transforms__route__regex": "(.*)",
}


@pytest.mark.parametrize("row", ["k558_01", "k558_x3"])
def test_topics_are_recorded_in_the_status_topic_and_in_no_other(on: System, row: str) -> None:
    topic = unique(row)
    name = on.emitter("", topic)

    on.has_topics(name, topic)

    assert len(on.records_of(topic, name)) == 1
    listed = AdminClient({"bootstrap.servers": on.cluster.bootstrap}).list_topics(timeout=30).topics
    internal = {each for each in listed if each.startswith(on.cluster.group)}
    changes = on.cluster.topic("changes")  # is made with the first change, and remembers no topics
    own = {on.cluster.topic(each) for each in ("configs", "offsets", "status", "assignments")}
    assert internal - {changes} == own


def test_k558_02_the_key_ends_the_topic_at_its_first_colon(on: System) -> None:
    topic, name = unique("k558.02"), f"{unique('a')}:connector-b"
    on.emit("colon", topic)

    on.rest.create(name, on.emitter_config("colon"))

    on.has_topics(name, topic)
    assert f"status-topic-{topic}:connector-{name}" in [key for key, _ in on.statuses()]


@pytest.mark.parametrize("row", ["k558_03", "k558_04", "k558_13"])
def test_the_value_is_compact_json_of_topic_connector_task_and_time(on: System, row: str) -> None:
    topic, before = unique(row), int(time.time() * 1000)
    name = on.emitter("", tasks__max="2")
    on.emit(name, topic, task=1)

    on.has_topics(name, topic)

    key = f"status-topic-{topic}:connector-{name}"
    value = next(value for each, value in on.statuses() if each == key)
    (recorded,) = on.records_of(topic, name)
    moment = recorded["topic"]["discoverTimestamp"]
    assert value == (
        f'{{"topic":{{"name":"{topic}","connector":"{name}","task":1,"discoverTimestamp":{moment}}}}}'.encode()
    )
    assert before <= moment <= time.time() * 1000


def test_k558_05_the_newest_record_of_a_key_decides(on: System) -> None:
    status = on.cluster.topic("status")
    name, topic = unique("nobody"), unique("k558-05")
    key = f"status-topic-{topic}:connector-{name}".encode()
    value = b'{"topic":{"name":"%b","connector":"%b","task":0,"discoverTimestamp":1}}'

    produce(on.cluster.bootstrap, status, [value % (topic.encode(), name.encode())], key)
    on.has_topics(name, topic)
    produce(on.cluster.bootstrap, status, [None], key)

    on.has_topics(name)


def test_k558_06_a_service_that_starts_again_reads_the_whole_topic(on: System) -> None:
    first, second = unique("k558-06"), unique("k558-06")
    name = on.emitter("", first, second)
    on.has_topics(name, first, second)

    on.cluster.restart("status", signal.SIGKILL)

    on.has_topics(name, first, second)
    with on.cluster.gateway({}) as other:
        assert set(other.get(f"/connectors/{name}/topics")[name]["topics"]) == {first, second}


def test_k558_07_more_fields_are_no_matter_and_what_is_no_record_is_left_out(on: System) -> None:
    name, topic, broken = unique("nobody"), unique("k558-07"), unique("broken")
    more = f'{{"topic":{{"name":"{topic}","connector":"{name}","task":0,"discoverTimestamp":1,"x":2}},"y":3}}'
    for each, value in ((broken, b"not JSON"), (topic, more.encode())):
        key = f"status-topic-{each}:connector-{name}".encode()
        produce(on.cluster.bootstrap, on.cluster.topic("status"), [value], key)

    wait_until(lambda: topic in on.topics(name), PATIENCE, "the record with more fields")

    assert broken in on.cluster.log("status")


def test_k558_08_a_key_nobody_knows_costs_one_warning(on: System) -> None:
    stranger = unique("stranger")
    produce(on.cluster.bootstrap, on.cluster.topic("status"), [b"{}"], stranger.encode())
    topic = unique("k558-08")
    name = on.emitter("", topic)

    on.has_topics(name, topic)

    wait_until(lambda: stranger in on.cluster.log("status"), PATIENCE, "a warning")
    assert len([line for line in on.cluster.log("status").splitlines() if stranger in line]) == 1


def test_k558_09_a_new_connector_has_no_topics_until_its_tasks_have_records(on: System) -> None:
    name = on.emitter()
    assert on.topics(name) == set()
    on.rest.runs(name)
    assert on.topics(name) == set()
    topic = unique("k558-09")

    on.emit(name, topic)

    on.has_topics(name, topic)


def test_k558_10_a_source_uses_the_topic_its_transformations_chose(on: System) -> None:
    topic = unique("k558-10")

    name = on.emitter("", topic, transforms__route__replacement="routed-$1", **ROUTE)

    on.has_topics(name, f"routed-{topic}")


def test_k558_10_a_record_that_was_not_written_lists_nothing(on: System) -> None:
    topic = unique("k558-10")
    name = on.emitter("", f"{topic} {'x' * 2000}", producer__override__max__request__size="1000")

    on.rest.wait(name, "RUNNING", "FAILED")

    assert on.topics(name) == set()


def test_k558_11_a_sink_uses_the_topic_it_read_whatever_transformations_make_of_it(on: System) -> None:
    idle, live = create_topic(on.cluster.bootstrap), create_topic(on.cluster.bootstrap)
    route = {**ROUTE, "transforms__route__replacement": "elsewhere"}
    name = on.sink(unique("sink"), topics=f"{idle},{live}", **route)
    on.rest.runs(name)
    assert on.topics(name) == set()

    produce(on.cluster.bootstrap, live, [b"v"])

    on.has_topics(name, live)


def test_k558_11_a_sink_of_a_pattern_uses_what_it_read(on: System) -> None:
    topic = create_topic(on.cluster.bootstrap, unique("k558-regex"))
    produce(on.cluster.bootstrap, topic, [b"v"])

    name = on.sink(unique("sink"), topics__regex="k558-regex.*")

    on.has_topics(name, topic)


def test_k558_12_a_topic_known_to_be_used_is_not_recorded_again(on: System) -> None:
    topic = unique("k558-12")
    name = on.emitter("", tasks__max="4")
    for task in range(4):
        on.emit(name, *[topic] * 2500, task=task)
    last = unique("last")

    on.has_topics(name, topic)
    on.emit(name, topic, last)
    on.has_topics(name, topic, last)

    assert 1 <= len(on.records_of(topic, name)) <= 4


def test_k558_14_topics_stay_though_nobody_uses_them_any_more(on: System) -> None:
    former, present = unique("former"), unique("present")
    name = on.emitter("", former)
    on.has_topics(name, former)

    on.emit(name, present)

    on.has_topics(name, former, present)


def test_k558_15_a_topic_created_for_a_plugin_that_knows_nothing_of_it_is_tracked(on: System) -> None:
    topic = unique("k558-15")
    sizes = {"partitions": "2", "replication__factor": "1"}

    name = on.emitter("", topic, **{f"topic__creation__default__{key}": sizes[key] for key in sizes})

    on.has_topics(name, topic)


def test_k558_x1_connectors_and_tasks_are_not_asked_about_their_topics() -> None:
    parts = (SourceConnector, SinkConnector, SourceTask, SinkTask)
    assert not [name for part in parts for name in dir(part) if "topic" in name.lower()]
