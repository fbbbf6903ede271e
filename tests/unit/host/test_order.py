"""What tasks are started with."""

from copycat.host.v1 import host_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TopicPartition
from copycat_connect.config.worker_keys import KIP_STRICT, TOPIC_TRACKING
from copycat_executor.taskhost.order import TaskOrder, starts_paused
from copycat_rpc.configs import config_to_proto


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
