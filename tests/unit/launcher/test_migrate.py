"""What is said of a Kafka Connect cluster that is to be moved: of each connector, of the file of a worker."""

from __future__ import annotations

import pytest
from copycat_connect.plugin.loading import load_plugins
from copycat_connect.plugin.registry import Plugins
from copycat_connect.validation import WorkerRules
from copycat_launcher.migrate.checking import blocks, tree
from copycat_launcher.migrate.findings import (
    FoundCluster,
    FoundConnector,
    FoundPositions,
    MigrationVerdict,
    worst,
)
from copycat_launcher.migrate.judging import JudgedConnector, Surroundings, judge, judge_connector
from copycat_launcher.migrate.worker import DEFAULTS, JAVA_CLASSES, WITHOUT_EFFECT, judge_worker
from copycat_launcher.misspelt import EVERYTHING

SOURCE = {
    "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
    "file": "/in.txt",
    "topic": "lines",
}
SINK = {
    "connector.class": "FileStreamSink",
    "file": "/out.txt",
    "topics": "lines",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "transforms": "keep",
    "transforms.keep.type": "org.apache.kafka.connect.transforms.Filter",
    "transforms.keep.predicate": "filled",
    "predicates": "filled",
    "predicates.filled.type": "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone",
}
PASSWORD = "hunter2"
WATCHING = "io.confluent.monitoring.clients.interceptor."


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    return load_plugins()


def connector(config: dict[str, str], **given: object) -> FoundConnector:
    facts = {"state": "RUNNING", "task_states": ("RUNNING",), "positions": FoundPositions(0), **given}
    return FoundConnector("one", {"name": "one", **config}, **facts)  # type: ignore[arg-type]


def judged(plugins: Plugins, config: dict[str, str], **given: object) -> JudgedConnector:
    here = Surroundings(plugins, WorkerRules.of({"group.id": "workers"}))
    return judge_connector(connector(config, **given), here)


def said_of(found: JudgedConnector) -> dict[str, str]:
    return {finding.key: finding.verdict.word for finding in found.findings}


@pytest.mark.parametrize("config", [SOURCE, SINK], ids=["source", "sink"])
def test_a_connector_that_has_all_it_names_here_runs_as_it_is(
    plugins: Plugins, config: dict[str, str]
) -> None:
    found = judged(plugins, config)
    assert found.findings == ()
    assert found.verdict is MigrationVerdict.RUNS


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"connector.class": "io.debezium.connector.postgresql.PostgresConnector"}, "connector.class"),
        ({"value.converter": "com.example.ProtoConverter"}, "value.converter"),
        ({"transforms.keep.type": "com.example.Keep"}, "transforms.keep.type"),
        ({"predicates.filled.type": "com.example.Filled"}, "predicates.filled.type"),
    ],
)
def test_each_thing_that_is_not_here_is_named_once(
    plugins: Plugins, change: dict[str, str], key: str
) -> None:
    found = judged(plugins, {**SINK, **change})
    assert said_of(found) == {key: "missing"}
    assert len(found.findings) == 1


def test_the_missing_parts_of_a_missing_connector_are_named_too(plugins: Plugins) -> None:
    config = {"connector.class": "com.example.Sink", "topics": "t", "key.converter": "com.example.Converter"}
    assert said_of(judged(plugins, config)) == {"connector.class": "missing", "key.converter": "missing"}


def test_a_class_that_is_almost_one_of_ours_is_told_so(plugins: Plugins) -> None:
    config = {**SOURCE, "connector.class": "com.example.FileStreamSourceConnector"}
    (finding,) = judged(plugins, config).findings
    assert "use org.apache.kafka.connect.file.FileStreamSourceConnector" in finding.fix


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({**SOURCE, "batch.sise": "5"}, "batch.sise"),
        ({**SOURCE, "errors.deadletterqueue.topic.name": "bad"}, "errors.deadletterqueue.topic.name"),
        ({**SOURCE, "tasks.max": "2000"}, "tasks.max"),
        ({**SOURCE, "producer.override.ssl.provider.x": "y"}, "producer.override.ssl.provider.x"),
        (
            {**SINK, "consumer.override.interceptor.classes": f"{WATCHING}MonitoringConsumerInterceptor"},
            "consumer.override.interceptor.classes",
        ),
        (
            {**SINK, "consumer.override.partition.assignment.strategy": "com.X"},
            "consumer.override.partition.assignment.strategy",
        ),
    ],
)
def test_what_differs_is_named_with_a_fix(plugins: Plugins, config: dict[str, str], key: str) -> None:
    found = judged(plugins, config)
    assert said_of(found) == {key: "differs"}
    assert all(finding.fix for finding in found.findings)


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({**SOURCE, "producer.override.partitioner.class": "com.X"}, "producer.override.partitioner.class"),
        (
            {**SOURCE, "producer.override.interceptor.classes": "com.X"},
            "producer.override.interceptor.classes",
        ),
        ({**SINK, "consumer.override.interceptor.classes": "com.X"}, "consumer.override.interceptor.classes"),
        ({**SINK, "consumer.override.auto.offset.reset": "oldest"}, "consumer.override.auto.offset.reset"),
        # A sink without dead letters has no producer that validation looks at.
        ({**SINK, "producer.override.partitioner.class": "com.X"}, "producer.override.partitioner.class"),
    ],
)
def test_client_settings_that_would_change_where_data_goes_are_refused(
    plugins: Plugins, config: dict[str, str], key: str
) -> None:
    found = judged(plugins, config)
    assert said_of(found) == {key: "refused"}
    assert len(found.findings) == 1


@pytest.mark.parametrize(
    "setting",
    [
        {"producer.override.partitioner.class": "org.apache.kafka.clients.producer.RoundRobinPartitioner"},
        {"consumer.override.auto.offset.reset": "by_duration:PT1H"},
        {"producer.override.partitioner.ignore.keys": "true"},
    ],
)
def test_client_settings_that_are_done_otherwise_here_are_no_difference(
    plugins: Plugins, setting: dict[str, str]
) -> None:
    assert said_of(judged(plugins, {**SOURCE, **setting})) == {}


def test_a_misspelt_setting_of_a_client_is_told_the_right_one(plugins: Plugins) -> None:
    (finding,) = judged(plugins, {**SINK, "consumer.override.auto.ofset.reset": "latest"}).findings
    assert finding.verdict is MigrationVerdict.DIFFERS
    assert finding.fix == "write consumer.override.auto.offset.reset"


def test_a_misspelt_key_is_told_the_right_one(plugins: Plugins) -> None:
    (finding,) = judged(plugins, {**SOURCE, "batch.sise": "5"}).findings
    assert finding.fix == "write batch.size"


def test_a_key_that_is_taken_without_effect_is_a_difference(plugins: Plugins) -> None:
    config = {
        "connector.class": "io.confluent.connect.s3.S3SinkConnector",
        "topics": "t",
        "s3.bucket.name": "b",
        "s3.region": "eu-west-1",
        "flush.size": "3",
        "storage.class": "io.confluent.connect.s3.storage.S3Storage",
        "format.class": "io.confluent.connect.s3.format.json.JsonFormat",
        "s3.object.tagging": "true",
    }
    assert said_of(judged(plugins, config)) == {"s3.object.tagging": "differs"}


def test_positions_of_a_file_differ_only_where_there_are_some(plugins: Plugins) -> None:
    assert said_of(judged(plugins, SOURCE, positions=FoundPositions(1))) == {"file": "differs"}
    assert said_of(judged(plugins, SINK, positions=FoundPositions(1))) == {}


def test_what_copycat_would_refuse_is_said_in_its_words(plugins: Plugins) -> None:
    found = judged(plugins, {**SOURCE, "batch.size": "many"})
    assert said_of(found) == {"batch.size": "refused"}
    assert "Invalid value many for configuration batch.size" in found.findings[0].text


def test_a_value_with_a_placeholder_is_not_judged_and_its_provider_is_named(plugins: Plugins) -> None:
    config = {**SOURCE, "batch.size": "${vault:secret/kafka:size}"}
    assert said_of(judged(plugins, config)) == {"batch.size": "runs"}
    rules = WorkerRules.of({"group.id": "workers"})
    with_file = judge_connector(connector(config), Surroundings(plugins, rules, providers={"file"}))
    assert said_of(with_file) == {"batch.size": "missing"}
    known = judge_connector(connector(config), Surroundings(plugins, rules, providers={"vault"}))
    assert known.verdict is MigrationVerdict.RUNS


def test_a_failure_there_is_worth_knowing_and_changes_no_verdict(plugins: Plugins) -> None:
    found = judged(plugins, SINK, task_states=("RUNNING", "FAILED"))
    assert [finding.verdict for finding in found.findings] == [MigrationVerdict.RUNS]


@pytest.mark.parametrize(
    ("positions", "config", "text"),
    [
        (FoundPositions(3), SINK, "3 taken over"),
        (FoundPositions(0), SINK, "none yet"),
        (FoundPositions(2), {"connector.class": "com.example.Source"}, "2 kept, nobody here reads them"),
        (FoundPositions(None, "no right to ask"), SINK, "unknown: no right to ask"),
    ],
)
def test_what_becomes_of_the_offsets_is_said(
    plugins: Plugins, positions: FoundPositions, config: dict[str, str], text: str
) -> None:
    assert judged(plugins, config, positions=positions).offsets == text


def test_no_secret_is_shown_to_people_or_programs(plugins: Plugins) -> None:
    secrets = {
        "batch.size": PASSWORD,  # no password by its name: its error shows it
        "producer.override.sasl.jaas.config": f'Module required username="u" password="{PASSWORD}";',
        "producer.override.linger.ms": PASSWORD,
        "connection.password": PASSWORD,
    }
    jdbc = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "topics": "t",
        "connection.url": f"jdbc:postgresql://u:{PASSWORD}@db/x",
        "batch.size": f"//u:{PASSWORD}@db",
    }
    found = FoundCluster(
        "a test", tuple(connector(config) for config in ({**SOURCE, **secrets}, {**SINK, **secrets}, jdbc))
    )
    judgement = judge(found, Surroundings(plugins, WorkerRules.of({"group.id": "workers"})))
    assert PASSWORD not in f"{tree(judgement)}{blocks(judgement)}"
    assert judgement.verdict is MigrationVerdict.REFUSED


JSON = "org.apache.kafka.connect.json.JsonConverter"
WORKER_PASSWORD = "hunter2-hunter2"
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


def said_of_file(plugins: Plugins, **changes: str) -> dict[str, str]:
    properties = {**FILE, **{key.replace("_", "."): value for key, value in changes.items()}}
    return {each.key: each.verdict.word for each in judge_worker(properties, plugins).findings}


def test_nothing_is_said_of_a_file_that_is_fine(plugins: Plugins) -> None:
    assert said_of_file(plugins) == {}
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
        "ssl.truststore.password": WORKER_PASSWORD,
        "offset.flush.interval.ms": WORKER_PASSWORD,
        "sasl.password": WORKER_PASSWORD,
    }
    findings = judge_worker({**FILE, **secret}, plugins).findings
    assert findings
    assert WORKER_PASSWORD not in str(findings)


def test_the_keys_that_are_judged_are_kafka_connects() -> None:
    assert {*JAVA_CLASSES, *DEFAULTS, *WITHOUT_EFFECT} <= EVERYTHING
