"""Clients on a broker that checks rights: overrides (KIP-458), who creates topics (KIP-158), standalone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.cimpl import NewTopic
from confluent_kafka.cimpl import NewTopic as ClientTopic
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import source_offset_key
from copycat_connect.config.properties import format_properties
from copycat_embedded.ports import free_ports
from copycat_testkit.commands import Commands
from copycat_testkit.kafka import consume_all, delete_topic, unique, wait_until

from tests.integration.emitting.bench import CREATION_DEFAULTS, Bench
from tests.integration.guarded.broker import (
    PASSWORDS,
    SECURE,
    GuardedKafka,
    client_of,
    login,
    overrides,
    secure,
    sink_of,
)
from tests.plain_hosts import on_plain_hosts

SECONDS = 60.0


def first(walls: GuardedKafka, kind: str, client: str) -> Any:
    """Wait until a client has asked for something; returns what the broker wrote down of it."""
    return wait_until(lambda: walls.requests(kind, client), SECONDS, f"{kind} of {client}")[0]


@pytest.mark.long
def test_a_sources_overrides_reach_its_producer_and_its_admin_client(
    walls: GuardedKafka, guarded: Bench
) -> None:
    name = unique("k158")
    config = {
        **CREATION_DEFAULTS,
        **secure("producer"),
        **secure("admin"),
        **overrides(producer="alice", admin="bob"),
        "producer.override.client.id": f"writer-of-{name}",
        "producer.override.acks": "1",
        "producer.override.request.timeout.ms": "12345",
        "admin.override.client.id": f"creator-of-{name}",
    }

    guarded.run(name, config=config)

    created = first(walls, "CREATE_TOPICS", f"creator-of-{name}")
    assert (created["principal"], created["request"]["topics"][0]["name"]) == ("User:bob", name)
    written = first(walls, "PRODUCE", f"writer-of-{name}")
    assert (written["principal"], written["request"]["topicData"][0]["name"]) == ("User:alice", name)
    assert (written["request"]["acks"], written["request"]["timeoutMs"]) == (1, 12345)


def test_a_sinks_overrides_reach_its_consumer(walls: GuardedKafka, guarded: Bench) -> None:
    name = unique("k158")
    guarded.admin.create_topics([ClientTopic(name, 1, 1)])[name].result(60)
    config = {
        **sink_of(name, guarded.folder, "admin"),
        "consumer.override.client.id": f"reader-of-{name}",
        "consumer.override.isolation.level": "read_committed",
        "consumer.override.fetch.max.wait.ms": "77",
        "consumer.override.fetch.max.bytes": "54321",
    }

    guarded.executor.start("host", config, {name: 1})

    fetched = first(walls, "FETCH", f"reader-of-{name}")
    assert fetched["principal"] == "User:admin"
    asked = fetched["request"]
    assert (asked["isolationLevel"], asked["maxWaitMs"], asked["maxBytes"]) == (1, 77, 54321)


def test_without_overrides_clients_are_named_after_their_task(walls: GuardedKafka, guarded: Bench) -> None:
    name = unique("k158")
    worker = {**SECURE, "sasl.jaas.config": login("admin"), **{f"producer.{k}": v for k, v in SECURE.items()}}

    guarded.run(
        config={**CREATION_DEFAULTS, "name": name},
        worker={**worker, "producer.sasl.jaas.config": login("admin")},
        file=guarded.emit(guarded.folder / name, name),
    )

    assert first(walls, "CREATE_TOPICS", f"connector-adminclient-{name}-0")["principal"] == "User:admin"
    assert first(walls, "PRODUCE", f"connector-producer-{name}-0")["principal"] == "User:admin"


def worker_of(producer: str, admin: str) -> dict[str, str]:
    """Return a worker's properties with these principals; the admin's stand plain, as the worker's own."""
    return {
        **SECURE,
        "sasl.jaas.config": login(admin),
        **{f"producer.{key}": value for key, value in SECURE.items()},
        "producer.sasl.jaas.config": login(producer),
    }


@pytest.mark.long
@pytest.mark.parametrize(
    ("worker", "override"),
    [
        pytest.param(
            ("alice", "alice"), {"admin": "bob"}, id="k158_34 an override creates, the worker cannot"
        ),
        pytest.param(
            ("admin", "creator"), {"producer": "alice"}, id="k158_35 alice writes, the worker creates"
        ),
        pytest.param(
            ("admin", "alice"), {"producer": "alice", "admin": "bob"}, id="k158_36 alice writes, bob creates"
        ),
    ],
)
def test_a_topic_is_created_by_one_and_written_by_the_other(
    guarded: Bench, worker: tuple[str, str], override: Mapping[str, str]
) -> None:
    name = unique("k158")

    ref = guarded.run(name, config={**CREATION_DEFAULTS, **overrides(**override)}, worker=worker_of(*worker))

    assert guarded.created(name).partitions == 3
    guarded.executor.wait(lambda: name in guarded.executor.topics, "a durable record")
    assert not [each for each in guarded.executor.states if each.task == ref and each.trace]


@pytest.mark.long
def test_k158_35_strictly_who_writes_creates_too(guarded: Bench) -> None:
    name = unique("k158")
    worker = {**worker_of("alice", "alice"), "kip.strict": "true"}

    ref = guarded.run(name, config={**CREATION_DEFAULTS, **overrides(producer="admin")}, worker=worker)

    assert guarded.created(name).partitions == 3
    guarded.executor.wait(lambda: name in guarded.executor.topics, "a durable record")
    assert not [each for each in guarded.executor.states if each.task == ref and each.trace]


@pytest.mark.long
@pytest.mark.parametrize("row", ["k158_37", "k158_38"])
def test_where_nobody_may_create_the_task_fails_and_no_password_is_told(guarded: Bench, row: str) -> None:
    name = unique("k158")

    ref = guarded.run(
        name,
        config={**CREATION_DEFAULTS, **overrides(producer="alice", admin="alice")},
        worker=worker_of("alice", "alice"),
    )

    trace = guarded.trace(ref)
    assert f"Task failed to create new topic {name}" in trace
    assert (
        "by topic.creation.default.*, as the principal of the worker or of admin.override.sasl.jaas" in trace
    )
    assert "TOPIC_AUTHORIZATION_FAILED" in trace
    assert guarded.described(name) is None
    assert not [word for word in PASSWORDS.values() if word in trace + guarded.log()]


@pytest.mark.long
def test_k158_02_without_a_key_nobody_is_asked_to_create_a_missing_topic(guarded: Bench) -> None:
    name = unique("k158")

    ref = guarded.run(name, worker=worker_of("alice", "creator"))

    trace = guarded.trace(ref)
    assert f"A record could not be written to topic {name}: it does not exist and nobody creates it" in trace
    assert "set topic.creation.default.partitions and topic.creation.default.replication.factor" in trace
    assert guarded.described(name) is None


@pytest.mark.long
def test_who_may_not_write_fails_the_task_with_what_to_do(guarded: Bench) -> None:
    name = unique("k158")
    guarded.admin.create_topics([ClientTopic(name, 1, 1)])[name].result(60)

    ref = guarded.run(name, worker=worker_of("bob", "bob"))

    trace = guarded.trace(ref)
    assert f"A record could not be written to topic {name}: the producer may not write to it" in trace
    assert "producer.override.sasl.jaas.config" in trace
    assert not [word for word in PASSWORDS.values() if word in trace + guarded.log()]


@pytest.mark.long
@pytest.mark.parametrize(
    ("user", "said"),
    [
        pytest.param("alice", "{topic}-0: the consumer may not read it", id="its topic"),
        pytest.param(
            "eve",
            "Cannot read {topic} as consumer group connect-{sink}: the consumer may not use its group",
            id="its group",
        ),
    ],
)
def test_a_sink_that_may_not_read_fails_with_what_to_do(guarded: Bench, user: str, said: str) -> None:
    name = unique("k158")
    guarded.admin.create_topics([ClientTopic(name, 1, 1)])[name].result(60)
    config = sink_of(name, guarded.folder, user)

    ref = guarded.executor.start("host", config, {name: 1})

    trace = guarded.trace(ref)
    assert said.format(topic=name, sink=config["name"]) in trace
    assert "consumer.override.sasl.jaas.config" in trace
    assert not [word for word in PASSWORDS.values() if word in trace]


@pytest.mark.long
def test_a_topic_deleted_under_a_task_fails_it_and_its_records_come_with_the_restart(guarded: Bench) -> None:
    name = unique("k158")
    file = guarded.folder / name
    config = {**CREATION_DEFAULTS, "name": name}
    ref = guarded.run(name, config=config, worker=worker_of("admin", "admin"), file=file)
    guarded.executor.wait(lambda: name in guarded.executor.topics, "a durable record")

    delete_topic(guarded.admin, name)
    guarded.emit(file, f"{name} after")

    assert f"topic {name}: it was deleted" in guarded.trace(ref)
    assert guarded.executor.wait_for_state(ref, types_pb2.STATE_FAILED).failure_kind == "transient"
    again = guarded.run(config=config, worker=worker_of("admin", "admin"), file=file)
    assert guarded.created(name).partitions == 3
    size = f'{{"position":{file.stat().st_size}}}'.encode()
    guarded.executor.wait(lambda: size in guarded.executor.offsets.values(), "the record after it")
    assert not [each for each in guarded.executor.states if each.task == again and each.trace]


@pytest.mark.long
def test_a_topic_deleted_under_a_transaction_ends_it_at_once_and_the_restart_goes_on(guarded: Bench) -> None:
    name, offsets = unique("k158"), unique("offsets")
    guarded.admin.create_topics([ClientTopic(offsets, 1, 1)])[offsets].result(60)
    file = guarded.folder / name
    # For so long a record would be tried: far longer than this test waits.
    patience = {"producer.override.transaction.timeout.ms": "600000"}
    config = {**CREATION_DEFAULTS, "name": name, "exactly.once.support": "required", **patience}
    worker = {**worker_of("admin", "admin"), "group.id": unique("cluster"), "offset.storage.topic": offsets}
    partition = json.dumps({"file": str(file)}, separators=(",", ":")).encode()
    key = source_offset_key(name, partition)

    def committed() -> dict[bytes, bytes]:
        """Return where the newest transaction of this source ended."""
        return {each.key() or b"": each.value() or b"" for each in consume_all(guarded.client, offsets)}

    ref = guarded.run(f"{name} one", config=config, worker=worker, file=file)
    guarded.executor.wait(lambda: key in committed(), "the first record's transaction")

    delete_topic(guarded.admin, name)
    guarded.emit(file, f"{name} two")

    failed = guarded.executor.wait_for_state(ref, types_pb2.STATE_FAILED, timeout=60)
    assert failed.failure_kind == "transient"
    assert "INVALID_TXN_STATE" in failed.trace or "was deleted" in failed.trace
    guarded.executor.offsets[partition] = committed()[key]
    again = guarded.run(config=config, worker=worker, file=file)
    size = f'{{"position":{file.stat().st_size}}}'.encode()
    guarded.executor.wait(lambda: committed()[key] == size, "the second record's transaction")
    assert [each.value() for each in consume_all(guarded.client, name)] == [b"two"]
    assert not [each for each in guarded.executor.states if each.task == again and each.trace]


@pytest.mark.long
@pytest.mark.parametrize("client", ["producer", "consumer"])
def test_a_wrong_password_fails_the_task_and_says_where_it_stands(guarded: Bench, client: str) -> None:
    name = unique("k158")
    guarded.admin.create_topics([ClientTopic(name, 1, 1)])[name].result(60)
    wrong = {
        **{f"{client}.override.{key}": value for key, value in SECURE.items()},
        f"{client}.override.sasl.jaas.config": login("alice", "no-such-word"),
    }
    sink = {"name": name, "connector.class": "FileStreamSink", "file": str(guarded.folder / name)}

    if client == "producer":
        ref = guarded.run(name, config=wrong)
    else:
        ref = guarded.executor.start("host", {**sink, "topics": name, **wrong}, {name: 1})

    trace = guarded.trace(ref, 60)
    assert f"The brokers at {guarded.client['bootstrap.servers']} refuse the login of the {client}" in trace
    assert f"Correct {client}.override.sasl.jaas.config" in trace
    assert "no-such-word" not in trace + guarded.log()


STRING = "org.apache.kafka.connect.storage.StringConverter"


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    running = Commands(tmp_path, on_plain_hosts())
    yield running
    running.close()


@pytest.mark.timeout(300)
def test_k26_75_standalone_needs_the_rights_on_its_data_topics_and_no_other(
    walls: GuardedKafka, commands: Commands, tmp_path: Path
) -> None:
    topic, source, target = unique("k158"), tmp_path / "in.txt", tmp_path / "out.txt"
    walls.admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(60)
    source.write_text("one\ntwo\n")
    before = set(walls.admin.list_topics(timeout=60).topics)
    writer, reader = (
        {**SECURE, "sasl.jaas.config": login("alice")},
        {**SECURE, "sasl.jaas.config": login("dave")},
    )
    properties = {
        "bootstrap.servers": walls.bootstrap,
        "key.converter": STRING,
        "value.converter": STRING,
        "offset.storage.file.filename": str(tmp_path / "offsets"),
        "offset.flush.interval.ms": "500",
        "listeners": f"http://127.0.0.1:{free_ports(1)[0]}",
        **writer,
        **{f"producer.{key}": value for key, value in writer.items()},
        **{f"consumer.{key}": value for key, value in reader.items()},
    }
    connectors = {
        "in": {"connector.class": "FileStreamSource", "file": str(source), "topic": topic},
        "out": {"connector.class": "FileStreamSink", "file": str(target), "topics": topic},
    }
    files = [tmp_path / "worker.properties"]
    files[0].write_text(format_properties(properties), "utf-8")
    for name, config in connectors.items():
        files.append(tmp_path / f"{name}.properties")
        files[-1].write_text(format_properties({"name": unique(name), **config}), "utf-8")

    process = commands.start("standalone", *files)

    wait_until(lambda: target.exists() and target.read_text() == "one\ntwo\n", 180, "both lines in the sink")
    assert process.end() == 0, process.said()
    assert set(walls.admin.list_topics(timeout=60).topics) - before <= {"__consumer_offsets"}
    consumer = Consumer({**client_of("admin"), "bootstrap.servers": walls.bootstrap, "group.id": topic})
    assert consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=60) == (0, 2)
    consumer.close()
