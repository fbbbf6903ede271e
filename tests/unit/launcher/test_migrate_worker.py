"""What is said about the file of a Kafka Connect worker that is to be used here."""

from __future__ import annotations

import pytest
from copycat_connect.plugin.loading import load_plugins
from copycat_connect.plugin.registry import Plugins
from copycat_launcher.migrate.findings import MigrationVerdict, worst
from copycat_launcher.migrate.worker import DEFAULTS, JAVA_CLASSES, WITHOUT_EFFECT, judge_worker
from copycat_launcher.misspelt import EVERYTHING

JSON = "org.apache.kafka.connect.json.JsonConverter"
PASSWORD = "hunter2-hunter2"
FILE = {
    "bootstrap.servers": "localhost:9092",
    "group.id": "connect-cluster",
    "config.storage.topic": "connect-configs",
    "offset.storage.topic": "connect-offsets",
    "status.storage.topic": "connect-status",
    "key.converter": JSON,
    "value.converter": JSON,
    "offset.flush.interval.ms": "10000",
    "scheduled.rebalance.max.delay.ms": "300000",
}
PROVIDERS = "org.apache.kafka.common.config.provider."


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return load_plugins()


def said(plugins: Plugins, **changes: str) -> dict[str, str]:
    properties = {**FILE, **{key.replace("_", "."): value for key, value in changes.items()}}
    return {each.key: each.verdict.word for each in judge_worker(properties, plugins).findings}


def test_nothing_is_said_of_a_file_that_is_fine(plugins: Plugins) -> None:
    assert said(plugins) == {}
    assert worst(each.verdict for each in judge_worker(FILE, plugins).findings) is MigrationVerdict.RUNS


@pytest.mark.parametrize(
    ("properties", "key", "verdict"),
    [
        ({"value.converter": "com.example.Converter"}, "value.converter", "missing"),
        ({"metric.reporters": "com.example.Reporter"}, "metric.reporters", "missing"),
        ({"rest.extension.classes": "com.example.Extension"}, "rest.extension.classes", "missing"),
        (
            {"config.providers": "v", "config.providers.v.class": "com.example.Vault"},
            "config.providers.v.class",
            "missing",
        ),
        (
            {"connector.client.config.override.policy": "com.example.Policy"},
            "connector.client.config.override.policy",
            "refused",
        ),
        ({"offset.flush.interval.ms": "soon"}, "offset.flush.interval.ms", "refused"),
        ({"ssl.truststore.location": "/trust.jks"}, "ssl.truststore.type", "refused"),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI"},
            "sasl.mechanism",
            "refused",
        ),
        ({"plugin.path": "/usr/share/java"}, "plugin.path", "runs"),
        ({"offset.flush.intervall.ms": "1"}, "offset.flush.intervall.ms", "runs"),
    ],
)
def test_what_is_missing_refused_or_without_effect_is_named(
    plugins: Plugins, properties: dict[str, str], key: str, verdict: str
) -> None:
    found = judge_worker({**FILE, **properties}, plugins).findings
    assert [(each.key, each.verdict.word) for each in found if each.key == key] == [(key, verdict)]
    assert all(each.fix for each in found)


def test_a_provider_of_kafka_is_here(plugins: Plugins) -> None:
    provider = {"config.providers": "f", "config.providers.f.class": f"{PROVIDERS}FileConfigProvider"}
    assert judge_worker({**FILE, **provider}, plugins).findings == ()


@pytest.mark.parametrize("key", DEFAULTS)
def test_a_default_that_is_another_here_is_told_where_the_file_leaves_it_open(
    plugins: Plugins, key: str
) -> None:
    properties = {name: value for name, value in FILE.items() if name != key}
    (finding,) = judge_worker(properties, plugins).findings
    assert (finding.key, finding.verdict) == (key, MigrationVerdict.RUNS)
    assert DEFAULTS[key][0] in finding.fix


def test_no_secret_of_the_file_is_shown(plugins: Plugins) -> None:
    secret = {
        "ssl.truststore.location": "/trust.jks",
        "ssl.truststore.password": PASSWORD,
        "offset.flush.interval.ms": PASSWORD,
        "sasl.password": PASSWORD,
    }
    findings = judge_worker({**FILE, **secret}, plugins).findings
    assert findings
    assert PASSWORD not in str(findings)


def test_the_keys_that_are_judged_are_kafka_connects() -> None:
    assert {*JAVA_CLASSES, *DEFAULTS, *WITHOUT_EFFECT} <= EVERYTHING
