"""What tasks are started with: their orders, their converters and transformations, the specs of hosts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import pytest
from confluent_kafka import Consumer
from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TopicPartition
from copycat_connect.config import ConfigDef
from copycat_connect.config.worker_keys import KIP_STRICT, TOPIC_TRACKING
from copycat_connect.data import ConnectRecord, SourceRecord
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import PluginKind, Plugins, PluginSpec, Predicate, Transformation
from copycat_executor.kafka.consumer import at_least
from copycat_executor.pipeline.records.tolerate import Tolerance
from copycat_executor.taskhost.compose import build_chain, build_converters
from copycat_executor.taskhost.host_questions import HostQueries
from copycat_executor.taskhost.order import TaskOrder, starts_paused
from copycat_executor.taskhost.spec import HostSpec, HostTls
from copycat_rpc.messages import config_to_proto
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.pipeline.fakes import TextConverter, TextHeaders, tolerance


def command(**worker: str) -> pb.StartTask:
    config = config_to_proto({"name": "c", "secret": "${env:SECRET}", "nothing": None})
    return pb.StartTask(
        task=pb.TaskRef(connector="c", task=2),
        worker_config=config_to_proto({"bootstrap.servers": "k:1", **worker}),
        connector_config=config,
        task_config=config,
        target_state=types_pb2.TARGET_STATE_PAUSED,
        partitions=[
            types_pb2.TopicPartitionOffset(topic="t", partition=1, offset=7),
            types_pb2.TopicPartitionOffset(topic="t", partition=2, offset=-1),
        ],
    )


def test_secrets_are_resolved_with_the_workers_providers() -> None:
    worker = {
        "config.providers": "env",
        "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    }

    order = TaskOrder.of(command(**worker), {"SECRET": "s3cret"})

    assert order.connector_config["secret"] == "s3cret"
    assert order.task_config == {"name": "c", "secret": "s3cret"}


def test_a_placeholder_nobody_knows_stays() -> None:
    assert TaskOrder.of(command(), {}).task_config["secret"] == "${env:SECRET}"


def test_a_partition_without_a_committed_position_has_none() -> None:
    order = TaskOrder.of(command(), {})

    assert order.partitions == {TopicPartition("t", 1): 7, TopicPartition("t", 2): None}
    assert order.task_id == "c-2"
    assert starts_paused(command())


def test_a_switch_the_worker_leaves_out_is_as_its_definition_says() -> None:
    assert TaskOrder.of(command(), {}).worker_says(TOPIC_TRACKING)
    assert not TaskOrder.of(command(), {}).worker_says(KIP_STRICT)
    assert not TaskOrder.of(command(**{"topic.tracking.enable": "false"}), {}).worker_says(TOPIC_TRACKING)


@pytest.fixture
def consumer() -> Iterator[Consumer]:
    alone = Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "nobody", "log_level": 0})
    yield alone
    alone.close()


@given(st.just(0.0) | st.floats(min_value=1e-6, max_value=3600))
def test_the_whole_milliseconds_of_a_time_out_are_enough_and_less_than_one_too_many(seconds: float) -> None:
    assert seconds * 1000 <= int(at_least(seconds) * 1000) < seconds * 1000 + 1


@pytest.mark.parametrize("seconds", [0.0004, 0.0107])
def test_the_client_waits_that_long(consumer: Consumer, seconds: float) -> None:
    began = time.monotonic()
    assert consumer.consume(1, at_least(seconds)) == []
    assert time.monotonic() - began >= seconds


TLS = HostTls("certificate", "the private key", "authorities", "copycat")


def test_a_spec_survives_its_journey() -> None:
    spec = HostSpec("h", "127.0.0.1:9", "secret", "INFO", "w:1")

    assert HostSpec.from_json(spec.to_json()) == spec
    encrypted = HostSpec("h", "127.0.0.1:9", "secret", tls=TLS)
    assert HostSpec.from_json(encrypted.to_json()) == encrypted


def test_the_token_is_not_printed() -> None:
    assert "secret" not in repr(HostSpec("h", "a:1", "secret"))
    assert "the private key" not in repr(HostSpec("h", "a:1", "secret", tls=TLS))


class Told(TextConverter):
    """Remembers its configuration."""

    def configure(self, config: Mapping[str, str | None], is_key: bool = False) -> None:
        self.config = dict(config)
        self.is_key = is_key


class ToldHeaders(TextHeaders):
    """Remembers its configuration."""

    def configure(self, config: Mapping[str, str | None], is_key: bool = False) -> None:
        self.config = dict(config)


class Suffix(Transformation):
    """Appends its `text` to values."""

    def configure(self, config: Mapping[str, str | None]) -> None:
        self.config = dict(config)

    def apply(self, record: ConnectRecord) -> ConnectRecord:  # type: ignore[override]
        return record.replace(value=f"{record.value}{self.config['text']}")


class Short(Predicate):
    """Holds for values of at most `length` characters."""

    def configure(self, config: Mapping[str, str | None]) -> None:
        self.length = int(config["length"] or 0)

    def test(self, record: ConnectRecord) -> bool:
        return len(record.value) <= self.length


def spec(name: str, kind: PluginKind, factory: type) -> PluginSpec:
    return PluginSpec(f"a.{name}", kind, "1", "", ConfigDef(), factory)


PLUGINS = Plugins([
    spec("ToldConverter", PluginKind.CONVERTER, Told),
    spec("OtherConverter", PluginKind.CONVERTER, Told),
    spec("PlainHeaderConverter", PluginKind.HEADER_CONVERTER, ToldHeaders),
    spec("Suffix", PluginKind.TRANSFORMATION, Suffix),
    spec("Short", PluginKind.PREDICATE, Short),
])  # fmt: skip
WORKER = {
    "key.converter": "a.ToldConverter",
    "value.converter": "Told",
    "value.converter.from": "worker",
    "header.converter": "a.PlainHeaderConverter",
}


def told(converter: object) -> Told:
    assert isinstance(converter, Told)
    return converter


def test_the_workers_converters_are_used_with_its_settings() -> None:
    converters = build_converters(WORKER, {"value.converter.from": "connector"}, PLUGINS)

    assert told(converters.key).is_key
    assert told(converters.key).config == {"converter.type": "key"}
    assert told(converters.value).config == {"from": "worker", "converter.type": "value"}
    assert converters.value_name == "a.ToldConverter"


def test_a_connectors_converter_is_used_with_its_settings_only() -> None:
    connector = {"value.converter": "a.OtherConverter", "value.converter.mine": "1"}

    converters = build_converters(WORKER, connector, PLUGINS)

    assert converters.value_name == "a.OtherConverter"
    assert told(converters.value).config == {"mine": "1", "converter.type": "value"}


def test_a_converter_that_nobody_names_is_missed() -> None:
    with pytest.raises(ConfigError, match=r'Missing required configuration "key\.converter"'):
        build_converters({}, {}, PLUGINS)


class Context:
    """Offers an engine that is never asked."""

    def __init__(self) -> None:
        self.queries = HostQueries(lambda _: None)


def apply(connector: dict[str, str | None], aliases: list[str], value: str) -> object:
    handler: Tolerance = tolerance()
    record = SourceRecord(None, None, "t", value)
    result = build_chain(connector, aliases, PLUGINS, handler, Context()).apply(record, record)
    assert result is not None
    return result.value


STEPS: dict[str, str | None] = {
    "transforms.a.type": "a.Suffix",
    "transforms.a.text": "1",
    "transforms.b.type": "Suffix",
    "transforms.b.text": "2",
}


def test_transformations_are_applied_in_the_order_of_their_aliases() -> None:
    assert apply(STEPS, ["b", "a"], "x") == "x21"


@pytest.mark.parametrize(("negate", "result"), [("false", "x1"), ("true", "x")])
def test_a_predicate_decides_whether_a_transformation_is_applied(negate: str, result: str) -> None:
    connector = {
        **STEPS,
        "transforms.a.predicate": "short",
        "transforms.a.negate": negate,
        "predicates.short.type": "a.Short",
        "predicates.short.length": "1",
    }

    assert apply(connector, ["a"], "x") == result


def test_a_transformation_does_not_see_the_frameworks_keys() -> None:
    connector = {**STEPS, "transforms.a.predicate": "", "transforms.a.negate": "false"}

    chain = build_chain(connector, ["a"], PLUGINS, tolerance(), Context())

    (step,) = chain._steps
    assert isinstance(step.transformation, Suffix)
    assert step.transformation.config == {"text": "1"}


def test_a_transformation_that_is_not_installed_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"Unknown plugin a\.None"):
        apply({"transforms.a.type": "a.None"}, ["a"], "x")
