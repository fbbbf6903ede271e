"""Rights that fencing (KIP-618) and connectors lack: who is refused reads why, and the remedy heals it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AclOperation, ResourceType
from confluent_kafka.cimpl import NewTopic as ClientTopic
from copycat.config.v1 import config_service_pb2 as pb
from copycat_connect.config.delivery import transactional_id
from copycat_connect.config.properties import format_properties
from copycat_rpc.errors import RemoteError
from copycat_testkit.kafka import unique, wait_until

from tests.integration.config.service import publish, running, settings
from tests.integration.emitting.bench import System
from tests.integration.guarded.broker import PASSWORDS, SECURE, GuardedKafka, client_of, login, overrides
from tests.integration.guarded.conftest import READING, WRITING
from tests.integration.scenarios.rest import PATIENCE

pytestmark = pytest.mark.long

FENCE = pb.FenceTasksRequest(connector="orders")
SECONDS = 60.0
TRANSACTIONS = (AclOperation.WRITE, AclOperation.DESCRIBE)


@pytest.fixture
def worker(walls: GuardedKafka, tmp_path: Path) -> dict[str, str]:
    """A worker that may do all and whose connectors' admin clients are carol, who may do nothing.

    Her password stands in a file that the properties name.
    """
    secrets = tmp_path / "secrets.properties"
    secrets.write_text(format_properties({"carol": login("carol")}), "utf-8")
    return {
        **settings(walls.bootstrap),
        **SECURE,
        "sasl.jaas.config": login("admin"),
        "admin.sasl.jaas.config": f"${{file:{secrets}:carol}}",
        "config.providers": "file",
        "config.providers.file.class": "FileConfigProvider",
    }


async def refused(stub: Any) -> RemoteError:
    """Fence; return the refusal, which shows no password."""
    with pytest.raises(RemoteError) as found:
        await stub.FenceTasks(FENCE, timeout=SECONDS)
    assert not [word for word in PASSWORDS.values() if word in str(found.value)]
    return found.value


async def test_who_may_not_use_a_transactional_id_is_told_which_and_fences_once_it_may(
    walls: GuardedKafka, worker: dict[str, str]
) -> None:
    name = transactional_id(worker["group.id"], "orders", 0)
    connection = {"bootstrap.servers": walls.bootstrap, **client_of("admin")}
    async with running(worker) as stub:
        await publish(stub, 2)
        await stub.FenceTasks(FENCE, timeout=SECONDS)
        zombie = Producer({**connection, "transactional.id": name, "log_level": 0})
        zombie.init_transactions(SECONDS)
        await publish(stub, 3)

        forbidden = await refused(stub)
        walls.allow("carol", ResourceType.TRANSACTIONAL_ID, f"{worker['group.id']}-orders-", *TRANSACTIONS)
        answer = await stub.FenceTasks(FENCE, timeout=SECONDS)

    assert forbidden.remote_code.name == "fencing.failed"
    assert forbidden.fields["transactional_id"] in {name, transactional_id(worker["group.id"], "orders", 1)}
    assert forbidden.fields["transactional_id"] in forbidden.message
    assert "Transactional Id authorization failed" in forbidden.message
    assert f"to WRITE and DESCRIBE the transactional ids {worker['group.id']}-orders-*" in forbidden.message
    assert "admin.override.*" in forbidden.message
    assert answer.fenced == 2


async def test_a_connector_fences_as_whom_its_admin_override_says(
    walls: GuardedKafka, worker: dict[str, str]
) -> None:
    walls.allow("alice", ResourceType.TRANSACTIONAL_ID, f"{worker['group.id']}-orders-", *TRANSACTIONS)
    async with running(worker) as stub:
        for size in (2, 3):
            await publish(stub, size, **overrides(admin="alice"))
            answer = await stub.FenceTasks(FENCE, timeout=SECONDS)

    assert answer.fenced == 2
    asked = walls.requests("INIT_PRODUCER_ID", "connector-worker-adminclient-orders")
    mine = [each for each in asked if each["request"]["transactionalId"].startswith(worker["group.id"])]
    assert {each["principal"] for each in mine} == {"User:alice"}
    assert len(mine) == 2


async def test_a_wrong_password_is_a_refusal_and_names_the_key(
    walls: GuardedKafka, worker: dict[str, str]
) -> None:
    wrong = {"admin.override.sasl.jaas.config": login("alice", "not hers")}
    async with running(worker) as stub:
        await publish(stub, 2)
        await stub.FenceTasks(FENCE, timeout=SECONDS)
        await publish(stub, 3, **wrong)
        error = await refused(stub)

    assert error.remote_code.name == "fencing.failed"
    assert "Invalid username or password" in error.message
    assert "Correct admin.override.sasl.jaas.config" in error.message
    assert "not hers" not in error.message


async def test_an_override_that_the_worker_does_not_allow_is_not_followed(worker: dict[str, str]) -> None:
    worker["connector.client.config.override.policy"] = "None"
    async with running(worker) as stub:
        await publish(stub, 2)
        await stub.FenceTasks(FENCE, timeout=SECONDS)
        await publish(stub, 3, **overrides(admin="admin"))
        error = await refused(stub)

    assert error.remote_code.name == "config.invalid"
    assert "Remove admin.override.sasl.jaas.config, or change" in error.message


TASKS = 2
EXACTLY_ONCE = {"tasks.max": str(TASKS), "exactly.once.support": "required"}


@pytest.mark.timeout(300)
def test_tasks_fail_on_inability_to_fence(on: System, walls: GuardedKafka) -> None:
    """The first tasks have nobody to fence; the next ones fail until their admin client may fence these."""
    topic, name = unique("k158"), unique("fence")
    walls.admin.create_topics([ClientTopic(topic, 1, 1)])[topic].result(60)
    ids = f"{on.cluster.group}-{name}-"
    walls.allow("alice", ResourceType.TRANSACTIONAL_ID, ids, *WRITING)
    walls.allow("alice", ResourceType.TOPIC, on.cluster.topic("offsets"), *WRITING)
    users = overrides(producer="alice", admin="carol")
    config = {**on.emitter_config(name, tasks__max=str(TASKS)), **EXACTLY_ONCE, **users}
    on.emit(name, topic)

    on.rest.create(name, config)
    on.rest.runs(name, TASKS)
    on.has_topics(name, topic)
    on.rest.configure(name, {**config, "emit.changed": "yes"})
    on.rest.wait(name, "RUNNING", *["FAILED"] * TASKS)
    traces = [task["trace"] for task in on.rest.get(f"/connectors/{name}/status")["tasks"]]
    walls.allow("carol", ResourceType.TRANSACTIONAL_ID, ids, AclOperation.WRITE, AclOperation.DESCRIBE)
    on.rest.ok("POST", f"/connectors/{name}/restart?includeTasks=true&onlyFailed=false")
    on.rest.runs(name, TASKS)

    for trace in traces:
        assert ids in trace, "names the transactional id"
        assert "admin.override." in trace, "and whose rights are missing"
        assert not [word for word in PASSWORDS.values() if word in trace]


@pytest.mark.timeout(300)
def test_a_task_that_may_not_use_its_transactional_id_says_so_and_starts_once_it_may(
    on: System, walls: GuardedKafka
) -> None:
    topic, name = unique("k158"), unique("id")
    walls.admin.create_topics([ClientTopic(topic, 1, 1)])[topic].result(60)
    walls.allow("alice", ResourceType.TOPIC, on.cluster.topic("offsets"), *WRITING)
    config = {**on.emitter_config(name), "delivery.guarantee": "exactly_once", **overrides(producer="alice")}
    on.emit(name, topic)

    on.rest.create(name, config)
    on.rest.wait(name, "RUNNING", "FAILED")
    trace = on.rest.get(f"/connectors/{name}/status")["tasks"][0]["trace"]
    transactional_id = f"{on.cluster.group}-{name}-0"
    walls.allow("alice", ResourceType.TRANSACTIONAL_ID, transactional_id, *WRITING)
    on.rest.ok("POST", f"/connectors/{name}/restart?includeTasks=true&onlyFailed=true")
    on.rest.runs(name)
    on.has_topics(name, topic)

    assert f"The transactional producer {transactional_id} could not begin: the producer may not use" in trace
    assert "Allow its principal WRITE and DESCRIBE on it" in trace
    assert not [word for word in PASSWORDS.values() if word in trace]


@pytest.fixture
def topic(walls: GuardedKafka) -> str:
    """A topic that the users with rights may use."""
    name = unique("k158")
    walls.admin.create_topics([ClientTopic(name, 1, 1)])[name].result(60)
    return name


def write(walls: GuardedKafka, topic: str, value: bytes, key: bytes | None = None) -> None:
    """Write a record as the admin."""
    producer = Producer({"bootstrap.servers": walls.bootstrap, **client_of("admin")})
    producer.produce(topic, value, key)
    assert producer.flush(60) == 0


def failure(on: System, name: str) -> str:
    """Wait until a connector's task has failed; returns why. No password is shown, there or in a log."""
    on.rest.wait(name, "RUNNING", "FAILED")
    trace: str = on.rest.get(f"/connectors/{name}/status")["tasks"][0]["trace"]
    assert not [word for word in PASSWORDS.values() if word in trace + on.cluster.log("executor")]
    return trace


def principals(walls: GuardedKafka, kind: str, client: str) -> set[str]:
    """Return who a client has been, by the broker's log."""
    return {each["principal"] for each in walls.requests(kind, client)}


def restart(on: System, name: str) -> None:
    """Restart what has failed."""
    on.rest.ok("POST", f"/connectors/{name}/restart?includeTasks=true&onlyFailed=true")
    on.rest.runs(name)


@pytest.mark.timeout(300)
def test_a_source_that_may_not_write_says_so_and_writes_as_somebody_who_may(
    on: System, walls: GuardedKafka, topic: str
) -> None:
    name = on.emitter("", topic)

    trace = failure(on, name)
    on.rest.configure(name, {**on.emitter_config(name), **overrides(producer="alice")})

    assert f"A record could not be written to topic {topic}: the producer may not write to it" in trace
    assert "producer.override.sasl.jaas.config, and restart the task" in trace
    on.has_topics(name, topic)
    wait_until(
        lambda: "User:alice" in principals(walls, "PRODUCE", f"connector-producer-{name}-0"),
        PATIENCE,
        "a record that alice wrote",
    )


@pytest.mark.timeout(300)
def test_a_source_whose_right_is_taken_away_fails_and_goes_on_when_it_is_given_back(
    on: System, walls: GuardedKafka, topic: str
) -> None:
    walls.allow("carol", ResourceType.TOPIC, topic, *WRITING)
    name = on.emitter("", topic)
    on.has_topics(name, topic)

    walls.forbid("carol", ResourceType.TOPIC, topic, *WRITING)
    on.emit(name, topic)
    trace = failure(on, name)
    walls.allow("carol", ResourceType.TOPIC, topic, *WRITING)
    restart(on, name)

    assert f"topic {topic}: the producer may not write to it" in trace
    file = on.folder / f"{name}-0"
    written = [{"partition": {"file": str(file)}, "offset": {"position": file.stat().st_size}}]
    wait_until(
        lambda: on.rest.get(f"/connectors/{name}/offsets")["offsets"] == written, PATIENCE, "both records"
    )


@pytest.mark.timeout(300)
def test_a_sink_without_rights_says_so_and_reads_as_somebody_who_has_them(
    on: System, walls: GuardedKafka, topic: str
) -> None:
    write(walls, topic, b"one")
    name = on.sink(unique("sink"), topics=topic)

    trace = failure(on, name)
    on.sink(name, topics=topic, consumer__override__sasl__jaas__config=login("dave"))

    assert "consumer.override.sasl.jaas.config" in trace
    assert topic in trace
    assert "and restart the task" in trace
    wait_until(lambda: lines(on, name) == ["one"], PATIENCE, "the record")


@pytest.mark.timeout(300)
def test_a_sink_whose_right_is_taken_away_fails_and_misses_nothing_when_it_is_given_back(
    on: System, walls: GuardedKafka, topic: str
) -> None:
    walls.allow("carol", ResourceType.TOPIC, topic, *READING)
    name = unique("k158-sink")
    walls.allow("carol", ResourceType.GROUP, f"connect-{name}", *READING)
    write(walls, topic, b"one")
    on.sink(name, topics=topic)
    wait_until(lambda: lines(on, name) == ["one"], PATIENCE, "the first record")

    walls.forbid("carol", ResourceType.TOPIC, topic, *READING)
    write(walls, topic, b"two")
    trace = failure(on, name)
    walls.allow("carol", ResourceType.TOPIC, topic, *READING)
    restart(on, name)

    assert f"Cannot read {topic}-0: the consumer may not read it" in trace
    assert "consumer.override.sasl.jaas.config, and restart the task" in trace
    wait_until(lambda: lines(on, name)[-1:] == ["two"], PATIENCE, "the second record")


@pytest.mark.timeout(300)
def test_a_configuration_that_came_past_the_policy_fails_its_task(
    on: System, walls: GuardedKafka, topic: str
) -> None:
    name = unique("smuggled")
    config = {
        **on.emitter_config(name),
        "name": name,
        **overrides(producer="alice"),
        "producer.override.acks": "1",
    }
    value = json.dumps({"properties": config}).encode()
    write(walls, on.cluster.topic("configs"), value, f"connector-{name}".encode())
    on.emit(name, topic)

    trace = failure(on, name)
    on.rest.configure(name, {key: value for key, value in config.items() if not key.endswith("acks")})

    assert "The 'Principal' policy does not allow 'acks' to be overridden" in trace
    assert "Remove producer.override.acks, or change connector.client.config.override.policy" in trace
    on.has_topics(name, topic)


def lines(on: System, name: str) -> list[str]:
    """Return what a sink has written."""
    file = Path(on.folder / f"{name}.out")
    return file.read_text().splitlines() if file.exists() else []
