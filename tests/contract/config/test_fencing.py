"""What the config service answers to FenceTasks; Kafka's part is played by the test."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from copycat.config.v1 import config_service_pb2 as pb
from copycat_config.domain.errors import FencingFailedError
from copycat_connect.errors import NotWriterError, UnavailableError
from copycat_eventlog.memory import MemoryTopic
from copycat_rpc.errors import RemoteError
from copycat_rpc.messages import config_to_proto
from copycat_testkit.eventually import eventually
from copycat_testkit.slow_log import SlowLog

from tests.contract.config.conftest import serving

CONFIG = {"connector.class": "FileStreamSource"}
FENCE = pb.FenceTasksRequest(connector="orders")


async def publish(world: Any, size: int) -> None:
    """Give the connector a new task set of this size, as a changed configuration does."""
    config = config_to_proto({**CONFIG, "tasks.max": str(size)})
    await world.stub.PutConnector(pb.PutConnectorRequest(name="orders", config=config))
    tasks = [config_to_proto({"index": str(index)}) for index in range(size)]
    await world.stub.PutTaskConfigs(
        pb.PutTaskConfigsRequest(connector="orders", tasks=tasks, applied_config=config)
    )


def recorded(world: Any) -> list[str]:
    """Return what was written of fencing."""
    return [
        entry.record.value.decode()
        for entry in world.topic.entries
        if entry.record.key == b"tasks-fencing-orders"
    ]


async def test_each_task_set_fences_the_one_before_and_is_recorded_once(world: Any) -> None:
    fenced, generations = [], []
    for size in (3, 5, 1, 1, 5):
        await publish(world, size)
        for _ in range(2):
            answer = await world.stub.FenceTasks(FENCE)
            fenced.append(answer.fenced)
            generations.append(answer.task_generation)

    assert fenced == [0, 0, 3, 0, 5, 0, 0, 0, 1, 0]
    assert generations == [0, 0, 1, 1, 2, 2, 2, 2, 3, 3]
    assert world.former.fenced == [("orders", [0, 1, 2]), ("orders", [0, 1, 2, 3, 4]), ("orders", [0])]
    assert recorded(world) == [f'{{"task-count":{size}}}' for size in (3, 5, 1, 5)]


async def test_the_answer_carries_the_revision_at_which_the_record_is_visible(world: Any) -> None:
    await publish(world, 2)

    answer = await world.stub.FenceTasks(FENCE)

    assert dict(answer.revision.next) == {0: len(world.topic.entries)}


async def test_all_who_ask_at_once_share_a_round(world: Any) -> None:
    await publish(world, 3)
    await world.stub.FenceTasks(FENCE)
    await publish(world, 4)
    world.former.may_end.clear()

    asked = [asyncio.ensure_future(world.stub.FenceTasks(FENCE)) for _ in range(10)]
    await eventually(lambda: world.fencing.asked == 11, 60)
    given_up = asked.pop()
    given_up.cancel()
    await asyncio.wait((given_up,))
    world.former.may_end.set()
    answers = await asyncio.gather(*asked)

    assert [answer.fenced for answer in answers] == [3] * 9
    assert world.former.fenced == [("orders", [0, 1, 2])]
    assert recorded(world)[-1] == '{"task-count":4}'


async def test_a_task_set_that_comes_meanwhile_is_not_recorded_as_fenced(world: Any) -> None:
    await publish(world, 3)
    await world.stub.FenceTasks(FENCE)
    await publish(world, 4)
    world.former.may_end.clear()

    asked = asyncio.ensure_future(world.stub.FenceTasks(FENCE))
    await eventually(lambda: len(world.former.fenced) == 1, 60)
    await publish(world, 2)
    world.former.may_end.set()
    with pytest.raises(RemoteError, match="Fencing failed because new task configurations") as changed:
        await asked
    again = await world.stub.FenceTasks(FENCE)

    assert (changed.value.remote_code.name, changed.value.remote_code.grpc) == (
        "connector.config_changed",
        "ABORTED",
    )
    assert changed.value.remote_code.http == 409
    assert again.fenced == 3
    assert recorded(world) == ['{"task-count":3}', '{"task-count":2}']


async def test_a_refusal_of_kafka_names_the_id_the_reason_and_the_remedy_and_may_be_mended(
    world: Any,
) -> None:
    await publish(world, 2)
    await world.stub.FenceTasks(FENCE)
    await publish(world, 3)
    world.former.failure = FencingFailedError("orders", "connect-orders-1", "not allowed.", "Allow it")

    with pytest.raises(RemoteError) as refused:
        await world.stub.FenceTasks(FENCE)
    world.former.failure = None
    mended = await world.stub.FenceTasks(FENCE)

    code = refused.value.remote_code
    assert (code.name, code.grpc, code.http) == ("fencing.failed", "FAILED_PRECONDITION", 500)
    assert refused.value.message == (
        "The former tasks of connector orders could not be fenced: "
        "transactional id connect-orders-1: not allowed. Allow it"
    )
    assert mended.fenced == 2
    assert recorded(world) == ['{"task-count":2}', '{"task-count":3}']


async def test_kafka_that_is_away_leaves_the_round_undone(world: Any) -> None:
    await publish(world, 2)
    await world.stub.FenceTasks(FENCE)
    await publish(world, 3)
    world.former.failure = UnavailableError("no broker answered")

    with pytest.raises(RemoteError, match="no broker answered") as away:
        await world.stub.FenceTasks(FENCE)

    assert away.value.remote_code.grpc == "UNAVAILABLE"
    assert recorded(world) == ['{"task-count":2}']


async def test_an_unknown_connector_has_no_tasks_to_fence(world: Any) -> None:
    with pytest.raises(RemoteError) as unknown:
        await world.stub.FenceTasks(FENCE)

    assert unknown.value.remote_code.name == "connector.unknown"
    assert world.former.fenced == []


async def test_an_instance_that_does_not_lead_fences_nobody(world: Any) -> None:
    await publish(world, 2)
    await world.stub.FenceTasks(FENCE)
    await publish(world, 3)

    async with serving(world.topic) as standby:
        # Over a channel the call would be sent to other instances for ten seconds.
        with pytest.raises(NotWriterError):
            await standby.fencing.fence("orders")

    assert standby.former.fenced == world.former.fenced == []


async def test_an_instance_that_leads_no_more_and_does_not_know_leaves_the_tasks_of_today_alone() -> None:
    logs: list[SlowLog] = []

    def open_log(topic: MemoryTopic) -> SlowLog:
        logs.append(SlowLog(topic))
        return logs[-1]

    async with serving(MemoryTopic(), open_log) as world:
        await publish(world, 2)
        await world.stub.FenceTasks(FENCE)
        await publish(world, 3)
        logs[0].lag()
        world.write("tasks-fencing-orders", '{"task-count":3}')  # by the instance that leads

        asked = asyncio.ensure_future(world.stub.FenceTasks(FENCE))
        await eventually(lambda: world.fencing.asked == 2, 60)
        logs[0].catch_up()
        answer = await asked

    assert (answer.fenced, answer.task_generation) == (0, 1)
    assert world.former.fenced == []
