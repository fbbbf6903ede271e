"""KIP-158: when topics are created, and what happens when they cannot be."""

from __future__ import annotations

import inspect

import copycat_connect.plugin
import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.cimpl import NewTopic as ClientTopic
from copycat.types.v1 import types_pb2
from copycat_connect.config.topic_creation import creation_groups
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import SourceTask, load_plugins
from copycat_connect.validation import WorkerRules, connector_plugin, validate_connector
from copycat_connect.validation.infos import ConfigInfos
from copycat_executor.kafka.admin import GroupTopicCreator, KafkaTopics
from copycat_executor.kafka.client_config import ClientConfig
from copycat_testkit.kafka import delete_topic, unique

from tests.integration.emitting.bench import CREATION_DEFAULTS, Bench, creation
from tests.integration.kip158.conftest import BROKER_PARTITIONS

pytestmark = pytest.mark.long

RUNNING = types_pb2.STATE_RUNNING
IMPOSSIBLE = {**CREATION_DEFAULTS, "topic.creation.default.replication.factor": "3"}
JSON = "org.apache.kafka.connect.json.JsonConverter"


def validated(config: dict[str, str]) -> ConfigInfos:
    plugins = load_plugins()
    spec = connector_plugin(config, plugins)
    worker = WorkerRules.of({"key.converter": JSON, "value.converter": JSON})
    return validate_connector(config, spec, plugins, worker, spec.make())


SOURCE = {"name": "a", "connector.class": "FileStreamSource", "topic": "t"}


def test_k158_02_without_a_key_the_broker_creates_the_topic_as_it_likes(tasks: Bench) -> None:
    name = unique("auto")

    tasks.run(name)

    assert tasks.created(name).partitions == BROKER_PARTITIONS


def test_k158_05_where_the_worker_forbids_it_keys_change_nothing(tasks: Bench) -> None:
    name = unique("off")

    tasks.run(name, config=CREATION_DEFAULTS, worker={"topic.creation.enable": "false"})

    assert tasks.created(name).partitions == BROKER_PARTITIONS


def test_k158_16_too_many_replicas_are_found_when_the_topic_is_created(tasks: Bench) -> None:
    name = unique("replicas")
    assert validated({**SOURCE, **IMPOSSIBLE}).error_count == 0

    ref = tasks.run(config=IMPOSSIBLE, file=tasks.folder / name)
    tasks.executor.wait_for_state(ref, RUNNING)
    tasks.emit(tasks.folder / name, name)

    trace = tasks.trace(ref)
    assert "INVALID_REPLICATION_FACTOR" in trace
    assert f"Task failed to create new topic {name} (partitions=3, replication factor=3" in trace
    assert "by topic.creation.default.*" in trace


def test_k158_26_a_topic_is_created_with_the_first_record_that_goes_to_it(tasks: Bench) -> None:
    first, late = unique("first"), unique("late")
    file = tasks.folder / unique("emit")

    tasks.run(*[first] * 5000, config=CREATION_DEFAULTS, file=file)
    tasks.created(first)
    assert tasks.described(late) is None
    tasks.emit(file, late)

    assert tasks.created(late).partitions == 3


def test_k158_27_k158_x4_what_exists_is_never_altered(tasks: Bench) -> None:
    there, later = unique("there"), unique("later")
    tasks.admin.create_topics([ClientTopic(there, 2, 1)])[there].result(60)
    config = {**CREATION_DEFAULTS, "topic.creation.default.cleanup.policy": "compact"}
    file = tasks.folder / unique("emit")

    ref = tasks.run(there, config=config, file=file)
    tasks.written(there, 1)
    tasks.executor.stop("host", ref)
    tasks.executor.wait_for_state(ref, types_pb2.STATE_UNASSIGNED)
    tasks.run(there, later, config={**config, "topic.creation.default.partitions": "4"}, file=file)

    assert tasks.created(later).partitions == 4
    assert tasks.created(there).partitions == 2
    assert tasks.configs(there) == {}


def test_k158_28_tasks_that_create_the_same_topic_at_once_do_no_harm(tasks: Bench) -> None:
    name = unique("contended")

    refs = [tasks.run(name, config=CREATION_DEFAULTS) for _ in range(8)]

    assert len(tasks.written(name, 8)) == 8
    assert tasks.created(name).partitions == 3
    assert not [each for each in tasks.executor.states if each.task in refs and each.trace]


def test_k158_29_a_failure_stops_that_task_until_it_is_restarted(tasks: Bench) -> None:
    name, other = unique("cause"), unique("other")
    file = tasks.folder / unique("emit")
    config = {**IMPOSSIBLE, "name": unique("failing")}

    ref = tasks.run(name, config=config, file=file)
    neighbour = tasks.run(other, config=CREATION_DEFAULTS)
    trace = tasks.trace(ref)
    tasks.admin.create_topics([ClientTopic(name, 1, 1)])[name].result(60)
    tasks.written(other, 1)

    remedy = (
        "Ensure that the task is authorized to create topics or that the topic exists and restart the task"
    )
    assert remedy in trace
    states = [each.state for each in tasks.executor.states if each.task == ref]
    assert states[-1] == types_pb2.STATE_FAILED
    assert not [each for each in tasks.executor.states if each.task == neighbour and each.trace]
    tasks.run(config=config, file=file)
    assert tasks.written(name, 1) == ["v"]


class OldBroker(KafkaTopics):
    """A broker that knows nothing of the calls needed."""

    def exists(self, topic: str) -> bool:
        """Refuse."""
        raise KafkaException(KafkaError(KafkaError.UNSUPPORTED_VERSION, "too old"))


def test_k158_30_a_broker_without_the_calls_fails_the_task() -> None:
    groups = creation_groups(CREATION_DEFAULTS)
    assert groups is not None
    creator = GroupTopicCreator(OldBroker(ClientConfig({}, {})), groups)

    with pytest.raises(ConnectError, match="Task failed to create new topic t") as refused:
        creator.ensure("t")

    assert "too old" in str(refused.value.__cause__)


def test_k158_32_validation_keeps_its_shape_and_only_sources_have_the_group() -> None:
    plain, asked = validated(SOURCE), validated({**SOURCE, **creation(groups="g", g__include="x")})
    sink = validated({"name": "a", "connector.class": "FileStreamSink", "topics": "t"})

    assert [info.name for info in plain.infos] == [info.name for info in asked.infos]
    assert "Topic Creation" in asked.groups
    assert "Topic Creation" not in sink.groups


@pytest.mark.parametrize("row", ["k158_21", "k158_33"])
def test_a_plugin_that_knows_nothing_of_it_has_its_topics_created(tasks: Bench, row: str) -> None:
    name = unique(row)

    tasks.run(f"{name} it lives", config=CREATION_DEFAULTS)

    assert tasks.created(name).partitions == 3
    assert tasks.written(name, 1) == ["it lives"]


def test_k158_x1_there_are_no_rules(tasks: Bench) -> None:
    name = unique("rules")

    tasks.run(name, config={"topic.creation": "first"})

    assert tasks.created(name).partitions == BROKER_PARTITIONS


def test_k158_x2_the_sdk_has_no_hook_for_settings_of_topics() -> None:
    assert not [name for name, _ in inspect.getmembers(SourceTask) if "topic" in name]
    assert not hasattr(copycat_connect.plugin, "TopicSettings")


def test_k158_x3_no_size_has_a_default() -> None:
    for size in CREATION_DEFAULTS:
        with pytest.raises(Exception, match="has no default value"):
            creation_groups({size: CREATION_DEFAULTS[size]})


def test_a_name_kafka_does_not_allow_fails_the_task_and_says_what_to_do(tasks: Bench) -> None:
    named = tasks.run("not/allowed", config=CREATION_DEFAULTS)
    unnamed = tasks.run("not/allowed")

    assert "Task failed to create new topic not/allowed" in tasks.trace(named)
    assert "topic not/allowed: Kafka does not allow this name" in tasks.trace(unnamed)


def test_a_topic_deleted_under_a_task_is_created_again_or_fails_it_and_no_offset_passes_it(
    tasks: Bench,
) -> None:
    name = unique("deleted")
    file = tasks.folder / unique("emit")
    ref = tasks.run(f"{name} before", config=CREATION_DEFAULTS, file=file)
    tasks.written(name, 1)
    tasks.executor.wait(lambda: str(file).encode() in b"".join(tasks.executor.offsets), "a commit")

    delete_topic(tasks.admin, name)
    tasks.emit(file, f"{name} after")

    assert tasks.written(name, 1) == ["after"]
    assert not [each for each in tasks.executor.states if each.task == ref and each.trace]
