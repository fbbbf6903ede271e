"""Validation of connectors: recorded answers of Kafka Connect, and the rules of distributed workers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from copycat_connect.config import ConfigValue
from copycat_connect.config.delivery import ExactlyOnceSources
from copycat_connect.errors import ConfigError
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import ExactlyOnceSupport, Plugins, load_plugins
from copycat_connect.plugin.errors import (
    InvalidVersionRangeError,
    NoConnectorClassError,
    UnknownConnectorClassError,
)
from copycat_connect.validation import (
    ConfigInfo,
    ConfigInfos,
    WorkerRules,
    connector_plugin,
    plugin_keys,
    validate_connector,
)

# Proposals were recorded where nothing but Kafka Connect's plugins was installed.
PLUGINS = Plugins(
    spec for spec in load_plugins().all() if spec.class_name.startswith("org.apache.kafka.connect.")
)
JSON = "org.apache.kafka.connect.json.JsonConverter"
WORKER = {"key.converter": JSON, "value.converter": JSON}
DISTRIBUTED = WorkerRules.of(
    {**WORKER, "group.id": "connect-workers", "exactly.once.source.support": "enabled"}
)
#: Kafka Connect's standalone worker, which answered, does not look whether exactly once can be had.
AS_RECORDED = replace(WorkerRules.of(WORKER), exactly_once=ExactlyOnceSources.ON_REQUEST)
SOURCE = {"name": "a", "connector.class": "FileStreamSource", "topic": "t"}
SINK = {"name": "a", "connector.class": "FileStreamSink", "topics": "t"}


def recorded() -> list[tuple[dict[str, str | None], dict[str, Any]]]:
    """Return the recorded cases; a number stands for a key that was recorded before, in order."""
    seen: list[Any] = []
    cases = []
    for line in (Path(__file__).parent / "recorded" / "validation.jsonl").read_text("utf-8").split("\n"):
        if not line:
            continue
        case = json.loads(line)
        configs = case["answer"]["configs"]
        seen.extend(info for info in configs if not isinstance(info, int))
        case["answer"]["configs"] = [seen[info] if isinstance(info, int) else info for info in configs]
        cases.append((case["config"], case["answer"]))
    return cases


def validated(
    config: Mapping[str, str | None], worker: WorkerRules | None = None, **hooks: Any
) -> ConfigInfos:
    spec = connector_plugin(config, PLUGINS)
    connector = spec.make()
    for name, hook in hooks.items():
        setattr(connector, name, hook)
    return validate_connector(config, spec, PLUGINS, worker or WorkerRules.of(WORKER), connector)


def errors_of(infos: ConfigInfos) -> dict[str, list[str]]:
    return {info.name: info.value.errors for info in infos.infos if info.value.errors}


def shown(info: ConfigInfo) -> dict[str, Any]:
    key, value = info.key, info.value
    definition = key and {
        "name": info.name,
        "type": key.type.value,
        "required": not key.has_default,
        "default_value": info.default_text,
        "importance": key.importance.value,
        "group": key.group,
        "order": key.order,
        "width": key.width.value,
        "display_name": key.display_name,
        "dependents": list(key.dependents),
    }
    found = {
        "name": info.name,
        "value": info.value_text,
        "recommended_values": info.recommended_texts,
        "errors": value.errors,
        "visible": value.visible,
    }
    return {"definition": definition, "value": found}


def in_order(configs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort overrides and converter keys, whose order among themselves is a hash map's in Kafka Connect."""

    def prefixed(info: dict[str, Any]) -> bool:
        name = info["value"]["name"]
        return (
            ".override." in name or re.match(r"(key|value|header)\.converter\.(?!plugin)", name) is not None
        )

    own = [info for info in configs if not prefixed(info)]
    return own + sorted(filter(prefixed, configs), key=lambda info: str(info["value"]["name"]))


@pytest.mark.parametrize(("config", "answer"), recorded())
def test_what_kafka_connect_was_recorded_to_answer(
    config: dict[str, str | None], answer: dict[str, Any]
) -> None:
    infos = validated(config, AS_RECORDED, exactly_once_support=lambda _: ExactlyOnceSupport.SUPPORTED)
    version = connector_plugin(config, PLUGINS).version
    found = json.loads(json.dumps([shown(info) for info in infos.infos]).replace(version, "VERSION"))
    assert in_order(found) == in_order(answer["configs"])
    assert (infos.name, infos.error_count) == (answer["name"], answer["error_count"])
    assert sorted(infos.groups) == sorted(answer["groups"])


def test_a_configuration_without_class_is_refused_and_not_shown() -> None:
    with pytest.raises(NoConnectorClassError) as refused:
        connector_plugin({"name": "a", "password": "hunter22"}, PLUGINS)
    assert refused.value.message == "Connector config contains no connector type"


def test_an_unknown_class_is_refused() -> None:
    with pytest.raises(
        UnknownConnectorClassError, match="Failed to find any class that implements Connector"
    ):
        connector_plugin({"connector.class": "Nope"}, PLUGINS)


def test_an_override_that_cannot_be_parsed_ends_the_validation() -> None:
    with pytest.raises(
        ConfigError, match=r"Invalid value abc for configuration linger\.ms: Not a number of type LONG"
    ):
        validated(SOURCE | {"producer.override.linger.ms": "abc"})


def test_keys_nobody_defines_come_first() -> None:
    first = validated(SOURCE | {"foo": None}).infos[0]
    assert (first.name, first.key, first.value_text) == ("foo", None, None)


def test_the_consumer_group_must_not_be_the_workers() -> None:
    overridden = validated(SINK | {"consumer.override.group.id": "connect-workers"}, DISTRIBUTED)
    assert errors_of(overridden) == {
        "consumer.override.group.id": [
            "Consumer group connect-workers conflicts with Connect worker group connect-workers"
        ]
    }
    named = validated(SINK | {"name": "workers"}, DISTRIBUTED)
    assert errors_of(named) == {
        "name": [
            "Consumer group for sink connector named workers "
            "conflicts with Connect worker group connect-workers"
        ]
    }


@pytest.mark.parametrize(
    "worker",
    [
        {"group.id": "g", "exactly.once.source.support": "PREPARING"},
        {"exactly.once.source.support": "enabled"},
        {},
    ],
)
def test_exactly_once_is_refused_when_required_of_a_worker_without_it(worker: Mapping[str, str]) -> None:
    rules = WorkerRules.of({**WORKER, **worker})
    required = SOURCE | {"file": "f", "exactly.once.support": "REQUIRED"}
    assert errors_of(validated(required, rules)) == {
        "exactly.once.support": ["This worker does not have exactly-once source support enabled."]
    }
    requested = required | {"exactly.once.support": "requested"}
    assert errors_of(validated(requested, rules)) == {}


def boom(config: Mapping[str, str]) -> ExactlyOnceSupport:
    raise ValueError(config["topic"])


@pytest.mark.parametrize(
    ("hook", "text"),
    [
        (lambda _: ExactlyOnceSupport.UNSUPPORTED, "The connector does not support exactly-once semantics"),
        (lambda _: None, "The connector does not implement the API required for preflight validation"),
        (boom, "An unexpected error occurred during validation: t"),
    ],
)
def test_a_connector_must_support_exactly_once_when_it_is_required(
    hook: Callable[..., Any], text: str
) -> None:
    config = SOURCE | {"exactly.once.support": "required"}
    found = errors_of(validated(config, DISTRIBUTED, exactly_once_support=hook))["exactly.once.support"]
    assert len(found) == 1
    assert found[0].startswith(text)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (False, "The connector does not support connector-defined transaction boundaries"),
        (None, "This connector has returned a null value from its canDefineTransactionBoundaries method"),
    ],
)
def test_a_connector_must_place_boundaries_when_it_is_told_to(answer: bool | None, text: str) -> None:
    config = SOURCE | {"transaction.boundary": "connector"}
    found = errors_of(validated(config, DISTRIBUTED, can_define_transaction_boundaries=lambda _: answer))
    assert found["transaction.boundary"][0].startswith(text)


@pytest.mark.parametrize(
    ("policy", "refused"),
    [
        ("All", set()),
        ("None", {"client.id", "sasl.mechanism"}),
        ("Principal", {"client.id"}),
        ("Allowlist", {"sasl.mechanism"}),
        (
            "org.apache.kafka.connect.connector.policy.NoneConnectorClientConfigOverridePolicy",
            {"client.id", "sasl.mechanism"},
        ),
    ],
)
def test_the_policy_says_what_may_be_overridden(policy: str, refused: set[str]) -> None:
    worker = {
        **WORKER,
        "connector.client.config.override.policy": policy,
        "connector.client.config.override.allowlist": "client.id",
    }
    config = SINK | {"consumer.override.client.id": "c", "consumer.override.sasl.mechanism": "PLAIN"}
    found = errors_of(validated(config, WorkerRules.of(worker)))
    assert {name.removeprefix("consumer.override.") for name in found} == refused


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ConfigError, match="Class Nope could not be found"):
        WorkerRules.of({"connector.client.config.override.policy": "Nope"})


@pytest.mark.parametrize(
    ("config", "clients"),
    [
        (SOURCE, {"producer"}),
        (SOURCE | {"topic.creation.default.partitions": "1"}, {"producer", "admin"}),
        (SOURCE | {"offsets.storage.topic": "o"}, {"producer", "consumer", "admin"}),
        (SINK, {"consumer"}),
        (SINK | {"errors.deadletterqueue.topic.name": "d"}, {"producer", "consumer", "admin"}),
    ],
)
def test_only_the_clients_a_connector_uses_are_checked(config: dict[str, str], clients: set[str]) -> None:
    worker = WorkerRules.of({**WORKER, "group.id": "g", "connector.client.config.override.policy": "None"})
    overrides = {f"{client}.override.client.id": "x" for client in ("producer", "consumer", "admin")}
    found = errors_of(validated(config | overrides, worker))
    assert {name.partition(".")[0] for name in found} == clients


def test_the_connectors_own_findings_replace_the_frameworks() -> None:
    own = [ConfigValue("topic", "t", errors=["too plain"]), ConfigValue("extra", "x")]
    infos = validated(SOURCE, validate=lambda _: own)
    assert errors_of(infos) == {"topic": ["too plain"]}
    assert infos.infos[0].name == "extra"


def test_stages_are_reported_before_they_begin() -> None:
    stages: list[str] = []
    config = SINK | {"key.converter": JSON}
    spec = connector_plugin(config, PLUGINS)
    validate_connector(config, spec, PLUGINS, DISTRIBUTED, spec.make(), report_stage=stages.append)
    assert stages == [
        "validating sink connector-specific properties for the connector",
        "instantiating the connector's key converter for validation",
        "performing config validation for the connector's key converter",
        "performing multi-property validation for the connector",
        "validating consumer config overrides for the connector",
    ]


def test_a_plugins_own_keys_are_listed_before_the_frameworks() -> None:
    names = [key.name for key in plugin_keys(PLUGINS.find("FileStreamSource"))]
    assert names[:4] == ["file", "topic", "batch.size", "name"]
    assert "transaction.boundary" in names
    assert [key.name for key in plugin_keys(PLUGINS.find("RegexRouter"))] == ["regex", "replacement"]


def test_a_connectors_version_is_by_default_the_one_that_is_installed() -> None:
    spec = PLUGINS.find("FileStreamSource")
    defaults = {key.name: key.default for key in plugin_keys(spec) if key.has_default}
    assert defaults["connector.plugin.version"] == spec.version


@pytest.mark.parametrize("wanted", ["4.4.0", "[4.0,5.0)", "[4.3,)", "latest"])
def test_version_ranges_written_for_kafka_find_the_plugins_with_kafkas_names(wanted: str) -> None:
    found = validated(
        SOURCE
        | {
            "connector.plugin.version": wanted,
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "key.converter.plugin.version": wanted,
        }
    )
    assert errors_of(found) == {}


HOIST = {
    "transforms": "up",
    "transforms.up.type": "org.apache.kafka.connect.transforms.HoistField$Value",
    "transforms.up.field": "line",
}


@pytest.mark.parametrize(
    ("config", "role", "class_key"),
    [
        ({}, "connector", "connector.class"),
        ({"key.converter": JSON}, "key.converter", "key.converter"),
        (HOIST, "transforms.up", "transforms.up.type"),
    ],
)
def test_a_version_that_is_not_there_is_an_error_of_the_version_and_of_the_class(
    config: dict[str, str], role: str, class_key: str
) -> None:
    errors = errors_of(validated(SOURCE | config | {f"{role}.plugin.version": "1.0"}))
    assert set(errors) == {class_key, f"{role}.plugin.version"}
    assert all("version range [1.0,1.0], available versions: [4.4.0" in each[0] for each in errors.values())


def test_a_malformed_range_of_the_connectors_version_is_refused_before_anything_is_validated() -> None:
    with pytest.raises(InvalidVersionRangeError, match=r"Unbounded range: \[1\.0"):
        validated(SOURCE | {"connector.plugin.version": "[1.0"})


def test_every_plugin_with_a_class_name_of_kafka_reports_kafkas_version() -> None:
    versions = {spec.version for spec in PLUGINS.all()}
    assert versions == {KAFKA_VERSION}


def test_a_converters_version_hides_only_while_no_class_is_named() -> None:
    wrong_kind = validated(SOURCE | {"key.converter": "FileStreamSource", "value.converter": "x.Unknown"})
    visible = {info.name: info.value.visible for info in wrong_kind.infos}
    assert visible["key.converter.plugin.version"]
    assert not visible["value.converter.plugin.version"]


CREATION = {"topic.creation.default.partitions": "1", "topic.creation.default.replication.factor": "1"}


@pytest.mark.parametrize(("strict", "errors"), [("true", 2), ("false", 0)])
def test_strictly_a_worker_that_creates_no_topics_refuses_the_keys_for_it(strict: str, errors: int) -> None:
    worker = WorkerRules.of({**WORKER, "topic.creation.enable": "false", "kip.strict": strict})

    infos = validated({**SOURCE, **CREATION}, worker)

    assert infos.error_count == errors
    assert [set(errors_of(infos)) == set(CREATION), not errors].count(True) == 1


def test_a_source_that_names_a_dead_letter_queue_has_its_keys_checked() -> None:
    queue = {"errors.deadletterqueue.topic.name": "dead"}
    wrong = {**queue, "errors.deadletterqueue.topic.replication.factor": "many"}

    assert validated({**SOURCE, **queue}).error_count == 0
    assert set(errors_of(validated({**SOURCE, **wrong}))) == {
        "errors.deadletterqueue.topic.replication.factor"
    }
    assert "errors.deadletterqueue.topic.name" not in {info.name for info in validated(SOURCE).infos}


@pytest.mark.parametrize(
    ("config", "key", "most"),
    [
        (SOURCE, "transforms", 1000),
        (SOURCE, "predicates", 1000),
        (SOURCE, "topic.creation.groups", 1000),
        (SINK, "topics", 10_000),
    ],
)
def test_a_list_with_thousands_of_entries_is_refused_by_its_key_alone(
    config: Mapping[str, str], key: str, most: int
) -> None:
    names = [f"n{number}" for number in range(most + 1)]
    types = {f"{key}.{name}.type": "org.apache.kafka.connect.transforms.Flatten$Value" for name in names}

    found = validated({**config, **types, key: ",".join(names)})

    assert errors_of(found) == {
        key: [
            f"Invalid value for configuration {key}: it has {most + 1} entries,"
            f" and at most {most} are accepted"
        ]
    }
    assert len(found.infos) < 200
