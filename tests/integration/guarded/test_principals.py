"""KIP-158: who creates topics, on a broker that asks for a password and checks what each may do."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from confluent_kafka.cimpl import NewTopic as ClientTopic
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import source_offset_key
from copycat_testkit.kafka import consume_all, delete_topic, unique

from tests.integration.emitting.bench import Bench
from tests.integration.guarded.broker import PASSWORDS, SECURE, login, overrides, sink_of
from tests.integration.kip158.keys import DEFAULT

pytestmark = pytest.mark.long


def worker_of(producer: str, admin: str) -> dict[str, str]:
    """Return a worker's properties with these principals; the admin's stand plain, as the worker's own."""
    return {
        **SECURE,
        "sasl.jaas.config": login(admin),
        **{f"producer.{key}": value for key, value in SECURE.items()},
        "producer.sasl.jaas.config": login(producer),
    }


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

    ref = guarded.run(name, config={**DEFAULT, **overrides(**override)}, worker=worker_of(*worker))

    assert guarded.created(name).partitions == 3
    guarded.executor.wait(lambda: name in guarded.executor.topics, "a durable record")
    assert not [each for each in guarded.executor.states if each.task == ref and each.trace]


def test_k158_35_strictly_who_writes_creates_too(guarded: Bench) -> None:
    name = unique("k158")
    worker = {**worker_of("alice", "alice"), "kip.strict": "true"}

    ref = guarded.run(name, config={**DEFAULT, **overrides(producer="admin")}, worker=worker)

    assert guarded.created(name).partitions == 3
    guarded.executor.wait(lambda: name in guarded.executor.topics, "a durable record")
    assert not [each for each in guarded.executor.states if each.task == ref and each.trace]


@pytest.mark.parametrize("row", ["k158_37", "k158_38"])
def test_where_nobody_may_create_the_task_fails_and_no_password_is_told(guarded: Bench, row: str) -> None:
    name = unique("k158")

    ref = guarded.run(
        name,
        config={**DEFAULT, **overrides(producer="alice", admin="alice")},
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


def test_k158_02_without_a_key_nobody_is_asked_to_create_a_missing_topic(guarded: Bench) -> None:
    name = unique("k158")

    ref = guarded.run(name, worker=worker_of("alice", "creator"))

    trace = guarded.trace(ref)
    assert f"A record could not be written to topic {name}: it does not exist and nobody creates it" in trace
    assert "set topic.creation.default.partitions and topic.creation.default.replication.factor" in trace
    assert guarded.described(name) is None


def test_who_may_not_write_fails_the_task_with_what_to_do(guarded: Bench) -> None:
    name = unique("k158")
    guarded.admin.create_topics([ClientTopic(name, 1, 1)])[name].result(60)

    ref = guarded.run(name, worker=worker_of("bob", "bob"))

    trace = guarded.trace(ref)
    assert f"A record could not be written to topic {name}: the producer may not write to it" in trace
    assert "producer.override.sasl.jaas.config" in trace
    assert not [word for word in PASSWORDS.values() if word in trace + guarded.log()]


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


def test_a_topic_deleted_under_a_task_fails_it_and_its_records_come_with_the_restart(guarded: Bench) -> None:
    name = unique("k158")
    file = guarded.folder / name
    config = {**DEFAULT, "name": name}
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


def test_a_topic_deleted_under_a_transaction_ends_it_at_once_and_the_restart_goes_on(guarded: Bench) -> None:
    name, offsets = unique("k158"), unique("offsets")
    guarded.admin.create_topics([ClientTopic(offsets, 1, 1)])[offsets].result(60)
    file = guarded.folder / name
    # For so long a record would be tried: far longer than this test waits.
    patience = {"producer.override.transaction.timeout.ms": "600000"}
    config = {**DEFAULT, "name": name, "exactly.once.support": "required", **patience}
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
