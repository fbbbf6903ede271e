"""What tasks are started with.

A consumer that waits for something does not come back before it is due.

Launch specs.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer
from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TopicPartition
from copycat_connect.config.worker_keys import KIP_STRICT, TOPIC_TRACKING
from copycat_executor.kafka.consumer import at_least
from copycat_executor.taskhost.order import TaskOrder, starts_paused
from copycat_executor.taskhost.spec import HostSpec, HostTls
from copycat_rpc.messages import config_to_proto
from hypothesis import given
from hypothesis import strategies as st


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
