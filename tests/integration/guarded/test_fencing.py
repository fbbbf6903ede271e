"""Rights that fencing needs, on a broker that checks them: as whom, which id, what to do (KIP-618)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AclOperation, ResourceType
from copycat.config.v1 import config_service_pb2 as pb
from copycat_connect.config.delivery import transactional_id
from copycat_connect.config.properties import format_properties
from copycat_rpc.errors import RemoteError

from tests.integration.config.service import publish, running, settings
from tests.integration.guarded.broker import PASSWORDS, SECURE, GuardedKafka, client_of, login, overrides

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
