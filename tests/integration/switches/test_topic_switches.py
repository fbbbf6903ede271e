"""The worker's switches of KIP-158 and KIP-558: systems that create no topics, and reset or track none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from copycat_connect.config import BOOLEAN
from copycat_connect.config.worker_keys import TOPIC_TRACKING, TOPIC_TRACKING_RESET
from copycat_executor.settings import ExecutorSettings
from copycat_status.settings import StatusServiceSettings
from copycat_testkit.kafka import unique, wait_until

from tests.integration.emitting.bench import System, described, reset, system
from tests.integration.scenarios.rest import PATIENCE

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

CREATION = "topic.creation.enable"
KEYS_OF_DEFAULT = {
    "topic__creation__default__partitions": "3",
    "topic__creation__default__replication__factor": "1",
}


@pytest.fixture(scope="module")
def fixed(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A system that creates no topics and does not let those in use be reset."""
    settings = {"topic.tracking.allow.reset": "false", CREATION: "false"}
    with system(kafka, tmp_path_factory.mktemp("fixed"), settings) as running:
        yield running


def test_k558_26_a_reset_is_allowed_by_default() -> None:
    assert (TOPIC_TRACKING_RESET.type, TOPIC_TRACKING_RESET.default) == (BOOLEAN, True)


@pytest.mark.parametrize("row", ["k558_23", "k558_26"])
def test_without_reset_topics_are_shown_and_kept(fixed: System, row: str) -> None:
    """TestTopicTrackingResetIsDisabled of Kafka's ConnectorTopicsIntegrationTest."""
    topic = unique(row)
    name = fixed.emitter("", topic)
    fixed.has_topics(name, topic)

    refused = reset(fixed.rest, name)

    assert refused == (403, b'{"error_code":403,"message":"Topic tracking reset is disabled."}')
    assert fixed.topics(name) == {topic}


def test_k558_23_strictly_the_refusal_has_no_full_stop(fixed: System) -> None:
    with fixed.cluster.gateway({"kip.strict": "true"}) as strict:
        assert reset(strict, "c") == (403, b'{"error_code":403,"message":"Topic tracking reset is disabled"}')


def test_k558_29_deleting_the_connector_forgets_its_topics_even_so(fixed: System) -> None:
    topic = unique("k558-29")
    name = fixed.emitter("", topic)
    fixed.has_topics(name, topic)

    fixed.rest.delete(name)

    fixed.has_topics(name)
    assert fixed.records_of(topic, name)[-1] is None
    fixed.emitter(name)
    fixed.rest.runs(name)
    assert fixed.topics(name) == set()


@pytest.mark.parametrize("row", ["k158_04", "k158_05"])
def test_without_creation_keys_are_accepted_and_idle_and_a_warning_says_so(fixed: System, row: str) -> None:
    topic = unique(row)

    name = fixed.emitter("", topic, **KEYS_OF_DEFAULT)

    fixed.has_topics(name, topic)
    assert described(fixed.cluster.bootstrap, topic).partitions == 1
    warning = f"connector {name}: topic.creation.* keys have no effect: the worker has {CREATION}=false"
    assert warning in fixed.cluster.log("executor")


def test_k158_31_a_sink_with_the_keys_runs_creates_nothing_and_warns(fixed: System) -> None:
    topic = unique("k158-31")

    name = fixed.sink(unique("sink"), topics=topic, **KEYS_OF_DEFAULT)

    fixed.rest.runs(name)
    warning = f"connector {name}: topic.creation.* keys have no effect: sink connectors create no topics"
    assert warning in fixed.cluster.log("executor")


def test_k158_40_the_internal_topics_are_created_all_the_same(fixed: System) -> None:
    names = [fixed.cluster.topic(each) for each in ("configs", "offsets", "status", "assignments")]

    assert [described(fixed.cluster.bootstrap, name).partitions for name in names] == [1, 25, 5, 1]


@contextmanager
def creating(system: System) -> Iterator[None]:
    """Have a system create topics for a while, as a rolling restart of its workers would."""
    file = system.folder / "data" / "worker.properties"
    before = file.read_text()
    file.write_text(before.replace(f"{CREATION}=false", f"{CREATION}=true"))
    assert file.read_text() != before
    system.cluster.restart("executor")
    try:
        yield
    finally:
        file.write_text(before)
        system.cluster.restart("executor")


def test_k158_39_k158_03_k158_08_k158_11_k158_21_switched_on_the_keys_take_effect(fixed: System) -> None:
    before, after = unique("before"), unique("after")
    idle = {"groups": "default", "default__include": "x", "default__exclude": "y"}
    keys = KEYS_OF_DEFAULT | {f"topic__creation__{key}": idle[key] for key in idle}
    started = fixed.folder / "started"
    name = fixed.emitter("", before, **keys, emit__started=str(started))
    fixed.has_topics(name, before)

    with creating(fixed):
        fixed.emit(name, after)
        fixed.has_topics(name, before, after)
        half = fixed.emitter("", topic__creation__default__partitions="3")
        fixed.rest.wait(half, "FAILED")

        trace = fixed.rest.get(f"/connectors/{half}/status")["connector"]["trace"]
        assert 'Missing required configuration "topic.creation.default.replication.factor"' in trace
        log = fixed.cluster.log("executor")
        assert f"connector {name}: topic.creation.groups lists default" in log
        assert f"connector {name}: topic.creation.default.include has no effect" in log
        assert f"connector {name}: topic.creation.default.exclude has no effect" in log
    assert described(fixed.cluster.bootstrap, before).partitions == 1
    assert described(fixed.cluster.bootstrap, after).partitions == 3
    given = json.loads(Path(f"{started}.connector").read_text())
    assert (given["topic.creation.groups"], given["topic.creation.default.partitions"]) == ("default", "3")


@pytest.fixture(scope="module")
def untracked(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A system that creates no topics and tracks none, by the letter of the KIPs."""
    settings = {"topic.tracking.enable": "false", CREATION: "false", "kip.strict": "true"}
    with system(kafka, tmp_path_factory.mktemp("untracked"), settings) as running:
        yield running


def test_k558_25_tracking_is_on_by_default_for_all_who_ask() -> None:
    assert (TOPIC_TRACKING.type, TOPIC_TRACKING.default) == (BOOLEAN, True)
    of_both = [settings.config_def().keys for settings in (ExecutorSettings, StatusServiceSettings)]
    assert all(keys["topic.tracking.enable"] is TOPIC_TRACKING for keys in of_both)


@pytest.mark.parametrize("row", ["k558_24", "k558_25"])
def test_without_tracking_nothing_is_recorded_and_nothing_is_answered(untracked: System, row: str) -> None:
    topic = unique(row)
    name = untracked.emitter("", topic)
    wait_until(
        lambda: untracked.rest.get(f"/connectors/{name}/offsets")["offsets"], PATIENCE, "a committed record"
    )

    shown = untracked.rest.call("GET", f"/connectors/{name}/topics")

    assert (shown.status_code, shown.content) == reset(untracked.rest, name)
    assert shown.content == b'{"error_code":403,"message":"Topic tracking is disabled."}'
    assert not [key for key, _ in untracked.statuses() if key.startswith("status-topic-")]


def test_k158_04_strictly_new_configurations_with_the_keys_are_refused(untracked: System) -> None:
    config = untracked.emitter_config("refused", **KEYS_OF_DEFAULT)

    reply = untracked.rest.call("POST", "/connectors", {"name": unique("refused"), "config": config})

    assert reply.status_code == 400
    assert (
        f"topic.creation.default.partitions cannot be used, since the worker has {CREATION}=false"
        in reply.text
    )
