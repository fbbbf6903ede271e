"""`delivery.guarantee` (K26-49, K26-56): what a configuration asks for, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from copycat_connect.config.delivery import (
    ExactlyOnceSources,
    Guarantee,
    guarantee_of_sink,
    guarantee_of_source,
)
from copycat_connect.plugin import load_plugins
from copycat_connect.validation import WorkerRules, connector_plugin, validate_connector

PLUGINS = load_plugins()
STRING = "org.apache.kafka.connect.storage.StringConverter"
CLUSTER = {"group.id": "g", "key.converter": STRING, "value.converter": STRING}
SOURCE = {"name": "a", "connector.class": "FileStreamSource", "topic": "t", "file": "f"}
SINK = {"name": "a", "connector.class": "FileStreamSink", "topics": "t", "file": "f"}
KEY = "delivery.guarantee"


def errors(config: Mapping[str, str], worker: Mapping[str, str] = CLUSTER) -> Mapping[str, list[str]]:
    """Validate and return what is wrong, by key."""
    spec = connector_plugin(config, PLUGINS)
    found = validate_connector(config, spec, PLUGINS, WorkerRules.of(worker), spec.make())
    return {info.value.name: list(info.value.errors) for info in found.infos if info.value.errors}


@pytest.mark.parametrize(
    ("worker", "connector", "expected"),
    [
        ({}, {}, Guarantee.AT_LEAST_ONCE),
        ({}, {"exactly.once.support": "requested"}, Guarantee.AT_LEAST_ONCE),
        ({}, {"exactly.once.support": "REQUIRED"}, Guarantee.EXACTLY_ONCE),
        ({}, {KEY: " Exactly_Once "}, Guarantee.EXACTLY_ONCE),
        ({}, {KEY: "at_most_once"}, Guarantee.AT_MOST_ONCE),
        ({"exactly.once.source.support": "enabled"}, {}, Guarantee.EXACTLY_ONCE),
        ({"exactly.once.source.support": "enabled"}, {KEY: "at_least_once"}, Guarantee.AT_LEAST_ONCE),
        ({"exactly.once.source.support": "preparing"}, {}, Guarantee.AT_LEAST_ONCE),
    ],
)
def test_a_source_gets_what_it_or_its_worker_asks_for(
    worker: Mapping[str, str], connector: Mapping[str, str], expected: Guarantee
) -> None:
    sources = ExactlyOnceSources.of({**CLUSTER, **worker})
    assert guarantee_of_source(connector, sources) is expected


def test_a_sink_gets_what_it_asks_for_whatever_the_worker_says_about_sources() -> None:
    assert guarantee_of_sink({}) is Guarantee.AT_LEAST_ONCE
    assert guarantee_of_sink({KEY: "at_most_once"}) is Guarantee.AT_MOST_ONCE


@pytest.mark.row("K26-49")
@pytest.mark.parametrize("guarantee", ["at_least_once", "at_most_once", "exactly_once", "EXACTLY_ONCE"])
def test_a_file_source_may_have_any_guarantee(guarantee: str) -> None:
    assert errors(SOURCE | {KEY: guarantee}) == {}


def test_at_most_once_is_refused_where_spark_reads_the_records() -> None:
    lake = {"name": "a", "connector.class": "SparkSource", "topic": "t", "format": "text"}
    lake["store.url"] = "file:///lake"
    assert errors(lake | {KEY: "exactly_once"}) == errors(lake | {KEY: "at_least_once"}) == {}
    (text,) = errors(lake | {KEY: "at_most_once"})[KEY]
    assert text.startswith(f"Invalid value at_most_once for configuration {KEY}: Spark reads")
    assert "use exactly_once or at_least_once" in text


def test_a_guarantee_that_is_none_is_refused_with_the_choices() -> None:
    (text,) = errors(SOURCE | {KEY: "twice"})[KEY]
    assert "AT_LEAST_ONCE, AT_MOST_ONCE, EXACTLY_ONCE" in text


def test_the_key_is_shown_only_where_it_is_set_since_kafka_connect_has_none() -> None:
    spec = connector_plugin(SOURCE, PLUGINS)
    for config, shown in ((SOURCE, False), (SOURCE | {KEY: "at_least_once"}, True)):
        found = validate_connector(config, spec, PLUGINS, WorkerRules.of(CLUSTER), spec.make())
        assert (KEY in {info.value.name for info in found.infos}) is shown


@pytest.mark.row("K26-49", "K26-56")
def test_a_connector_that_does_not_prove_exactly_once_is_refused_with_what_would_be_needed() -> None:
    from_stdin = {key: value for key, value in SOURCE.items() if key != "file"}
    (text,) = errors(from_stdin | {KEY: "exactly_once"})[KEY]
    assert text.startswith(f"Invalid value exactly_once for configuration {KEY}: ")
    assert "exactly_once_support must return SUPPORTED" in text
    assert "use at_least_once, or leave delivery.guarantee out" in text


@pytest.mark.parametrize(
    "worker",
    [
        CLUSTER | {"exactly.once.source.support": "disabled"},
        {key: value for key, value in CLUSTER.items() if key != "group.id"},
    ],
    ids=["a cluster that forbids it", "a standalone worker"],
)
def test_a_worker_that_cannot_deliver_exactly_once_refuses_it_by_name(worker: Mapping[str, str]) -> None:
    (text,) = errors(SOURCE | {KEY: "exactly_once"}, worker)[KEY]
    assert "exactly.once.source.support=enabled or no such setting" in text


@pytest.mark.parametrize("guarantee", ["at_least_once", "at_most_once"])
def test_the_two_keys_may_not_contradict_each_other(guarantee: str) -> None:
    (text,) = errors(SOURCE | {KEY: guarantee, "exactly.once.support": "required"})[KEY]
    assert "exactly.once.support is required" in text


def test_both_keys_may_agree() -> None:
    assert errors(SOURCE | {KEY: "exactly_once", "exactly.once.support": "required"}) == {}


@pytest.mark.parametrize("worker", [{}, {"exactly.once.source.support": "enabled"}])
def test_exactly_once_is_accepted_of_a_worker_that_has_it_or_does_not_forbid_it(
    worker: Mapping[str, str],
) -> None:
    assert errors(SOURCE | {"exactly.once.support": "REQUIRED"}, {**CLUSTER, **worker}) == {}
