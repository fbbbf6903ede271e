"""What the config service answers, and what those who watch it see."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import pytest
from copycat.config.v1 import config_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_rpc.errors import RemoteError
from copycat_rpc.messages import config_from_proto, config_to_proto

from tests.contract.reading import answer_after, beyond

CONFIG = {"connector.class": "FileStreamSource", "name": "orders", "gone": None}
TASK = {"task.class": "FileStreamSourceTask"}


def put(config: dict[str, Any] | None = None, **fields: Any) -> pb.PutConnectorRequest:
    return pb.PutConnectorRequest(name="orders", config=config_to_proto(config or CONFIG), **fields)


def put_tasks(*tasks: dict[str, Any], applied: dict[str, Any] | None = None) -> pb.PutTaskConfigsRequest:
    return pb.PutTaskConfigsRequest(
        connector="orders",
        tasks=[config_to_proto(task) for task in tasks],
        applied_config=config_to_proto(applied or CONFIG),
    )


def target(state: types_pb2.TargetState.ValueType) -> pb.SetTargetStateRequest:
    return pb.SetTargetStateRequest(name="orders", target_state=state)


async def test_a_created_connector_is_answered_and_read_back(world: Any) -> None:
    created = await world.stub.PutConnector(put())
    found = await world.stub.GetConnector(
        pb.GetConnectorRequest(name="orders", min_revision=created.revision)
    )

    assert created.created
    assert found.connector == created.connector
    assert config_from_proto(found.connector.config) == CONFIG
    assert list(config_from_proto(found.connector.config)) == list(CONFIG)
    assert found.connector.target_state == types_pb2.TARGET_STATE_STARTED
    assert dict(found.revision.next) == {0: 1}


async def test_a_replaced_connector_is_not_created(world: Any) -> None:
    await world.stub.PutConnector(put())

    replaced = await world.stub.PutConnector(put({"a": "b"}))

    assert not replaced.created
    assert config_from_proto(replaced.connector.config) == {"a": "b"}


async def test_of_many_who_put_a_connector_one_creates_it(world: Any) -> None:
    answers = await asyncio.gather(*(world.stub.PutConnector(put({"n": str(n)})) for n in range(20)))

    assert sum(answer.created for answer in answers) == 1


async def test_of_many_who_change_the_same_configuration_one_does(world: Any) -> None:
    await world.stub.PutConnector(put())
    expected = config_to_proto(CONFIG)

    answers = await asyncio.gather(
        *(world.stub.PutConnector(put({"n": str(n)}, expected=expected)) for n in range(20)),
        return_exceptions=True,
    )

    refused = [each for each in answers if isinstance(each, RemoteError)]
    assert len(answers) - len(refused) == 1
    assert {each.remote_code.name for each in refused} == {"connector.config_changed"}


async def test_an_expected_configuration_creates_no_connector(world: Any) -> None:
    with pytest.raises(RemoteError) as refused:
        await world.stub.PutConnector(put(expected=config_to_proto(CONFIG)))

    assert refused.value.remote_code.name == "connector.unknown"


async def test_a_connector_is_created_with_its_initial_state(world: Any) -> None:
    created = await world.stub.PutConnector(
        put(initial_state=types_pb2.TARGET_STATE_STOPPED, create_only=True)
    )

    assert created.connector.target_state == types_pb2.TARGET_STATE_STOPPED
    assert world.keys() == ["target-state-orders", "connector-orders"]


async def test_a_deleted_connector_is_gone(world: Any) -> None:
    await world.stub.PutConnector(put())

    await world.stub.DeleteConnector(pb.DeleteConnectorRequest(name="orders"))

    assert world.keys() == ["connector-orders", "connector-orders!", "target-state-orders!"]
    assert not (await world.stub.ListConnectors(pb.ListConnectorsRequest())).connectors


async def test_task_configurations_are_published_once(world: Any) -> None:
    await world.stub.PutConnector(put())

    first = await world.stub.PutTaskConfigs(put_tasks(TASK, TASK))
    second = await world.stub.PutTaskConfigs(put_tasks(TASK, TASK))

    assert (first.changed, second.changed) == (True, False)
    assert second.revision == first.revision
    assert world.keys()[1:] == ["task-orders-0", "task-orders-1", "commit-orders"]


@pytest.mark.row("K875-35")
async def test_a_stopped_connector_has_no_tasks(world: Any) -> None:
    await world.stub.PutConnector(put())
    await world.stub.PutTaskConfigs(put_tasks(TASK))

    stopped = await world.stub.SetTargetState(target(types_pb2.TARGET_STATE_STOPPED))

    found = await world.stub.GetConnector(pb.GetConnectorRequest(name="orders"))
    assert not found.connector.tasks
    assert found.connector.target_state == types_pb2.TARGET_STATE_STOPPED
    assert stopped.revision == found.revision


async def test_changed_configurations_outdate_their_tasks(world: Any) -> None:
    await world.stub.PutConnector(put())
    await world.stub.PutTaskConfigs(put_tasks(TASK))

    changed = await world.stub.PutConnector(put({"a": "b"}))

    assert changed.connector.tasks_outdated
    assert len(changed.connector.tasks) == 1


async def test_restarts_and_log_levels_are_logged(world: Any) -> None:
    await world.stub.PutConnector(put())

    await world.stub.RequestRestart(pb.RequestRestartRequest(connector="orders", include_tasks=True))
    level = await world.stub.SetLoggerLevel(pb.SetLoggerLevelRequest(logger="root", level="DEBUG"))

    assert world.keys()[1:] == ["restart-connector-orders", "logger-cluster-root"]
    assert dict(level.revision.next) == {0: 3}


async def test_connectors_are_listed_by_name(world: Any) -> None:
    for name in ("b", "a", "c"):
        world.write(f"connector-{name}", '{"properties":{}}')

    listed = await world.stub.ListConnectors(pb.ListConnectorsRequest())

    assert [connector.name for connector in listed.connectors] == ["a", "b", "c"]


Call = Callable[[Any], Awaitable[Any]]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda stub: stub.GetConnector(pb.GetConnectorRequest(name="nobody")), "connector.unknown"),
        (lambda stub: stub.DeleteConnector(pb.DeleteConnectorRequest(name="nobody")), "connector.unknown"),
        (
            lambda stub: stub.SetTargetState(
                pb.SetTargetStateRequest(name="nobody", target_state=types_pb2.TARGET_STATE_PAUSED)
            ),
            "connector.unknown",
        ),
        (
            lambda stub: stub.RequestRestart(pb.RequestRestartRequest(connector="nobody")),
            "connector.unknown",
        ),
        (lambda stub: stub.PutConnector(put(create_only=True)), "connector.exists"),
        (
            lambda stub: stub.PutTaskConfigs(put_tasks(TASK, applied={"other": "1"})),
            "connector.config_changed",
        ),
        (lambda stub: stub.PutTaskConfigs(pb.PutTaskConfigsRequest(connector="orders")), "config.invalid"),
        (
            lambda stub: stub.SetTargetState(target(types_pb2.TARGET_STATE_UNSPECIFIED)),
            "config.invalid",
        ),
        (lambda stub: stub.PutConnector(pb.PutConnectorRequest(name="a\x00")), "connector.name_invalid"),
        (
            lambda stub: stub.SetLoggerLevel(pb.SetLoggerLevelRequest(logger="", level="DEBUG")),
            "connector.name_invalid",
        ),
    ],
)
async def test_a_refusal_carries_its_code_and_writes_nothing(world: Any, call: Call, code: str) -> None:
    await world.stub.PutConnector(put())

    with pytest.raises(RemoteError) as refusal:
        await call(world.stub)

    assert refusal.value.remote_code.name == code
    assert world.keys() == ["connector-orders"]


async def test_a_stopped_connector_takes_no_tasks(world: Any) -> None:
    await world.stub.PutConnector(put(initial_state=types_pb2.TARGET_STATE_STOPPED))

    with pytest.raises(RemoteError) as refusal:
        await world.stub.PutTaskConfigs(put_tasks(TASK))

    assert (refusal.value.remote_code.name, refusal.value.remote_code.http) == ("connector.stopped", 400)


@pytest.mark.parametrize(
    "read",
    [
        lambda stub, asked: stub.GetConnector(pb.GetConnectorRequest(name="orders", min_revision=asked)),
        lambda stub, asked: stub.ListConnectors(pb.ListConnectorsRequest(min_revision=asked)),
    ],
)
async def test_a_read_waits_for_the_revision_it_asks_for(world: Any, read: Any) -> None:
    asked = beyond((await world.stub.PutConnector(put())).revision)

    answer = await answer_after(
        lambda revision: read(world.stub, revision),
        asked,
        lambda: world.stub.SetLoggerLevel(pb.SetLoggerLevelRequest(logger="a", level="INFO")),
    )

    assert answer.revision == asked


CONFIG_MESSAGE = config_to_proto({"connector.class": "FileStreamSource"})
TASK_MESSAGE = config_to_proto({"task.class": "FileStreamSourceTask"})


def kind(message: pb.WatchConnectorsResponse) -> str | None:
    return message.WhichOneof("change")


async def read(watch: Any, count: int) -> list[pb.WatchConnectorsResponse]:
    return [await anext(watch) for _ in range(count)]


async def watching(world: Any, after: types_pb2.Revision | None = None) -> Any:
    return aclosing(aiter(world.stub.WatchConnectors(pb.WatchConnectorsRequest(after_revision=after))))


async def test_a_snapshot_is_marked_complete_with_its_revision(world: Any) -> None:
    for name in ("a", "b"):
        await world.stub.PutConnector(pb.PutConnectorRequest(name=name, config=CONFIG_MESSAGE))

    async with await watching(world) as watch:
        messages = await read(watch, 3)

    assert [message.connector.name for message in messages[:2]] == ["a", "b"]
    assert messages[2].snapshot_complete
    assert dict(messages[2].revision.next) == {0: 2}


async def test_changes_follow_in_log_order_with_whole_connectors(world: Any) -> None:
    async with await watching(world) as watch:
        await read(watch, 1)
        await world.stub.PutConnector(pb.PutConnectorRequest(name="a", config=CONFIG_MESSAGE))
        await world.stub.PutTaskConfigs(
            pb.PutTaskConfigsRequest(
                connector="a", tasks=[TASK_MESSAGE, TASK_MESSAGE], applied_config=CONFIG_MESSAGE
            )
        )
        await world.stub.SetTargetState(
            pb.SetTargetStateRequest(name="a", target_state=types_pb2.TARGET_STATE_PAUSED)
        )
        await world.stub.DeleteConnector(pb.DeleteConnectorRequest(name="a"))
        created, committed, paused, removed = await read(watch, 4)

    assert (len(created.connector.tasks), len(committed.connector.tasks)) == (0, 2)
    assert paused.connector.target_state == types_pb2.TARGET_STATE_PAUSED
    assert len(paused.connector.tasks) == 2
    assert removed.removed == "a"
    assert [dict(m.revision.next)[0] for m in (created, committed, paused, removed)] == [1, 4, 5, 6]


async def test_restarts_and_log_levels_reach_who_watches_and_no_snapshot(world: Any) -> None:
    await world.stub.PutConnector(pb.PutConnectorRequest(name="a", config=CONFIG_MESSAGE))
    async with await watching(world) as watch:
        await read(watch, 2)
        await world.stub.RequestRestart(pb.RequestRestartRequest(connector="a", only_failed=True))
        await world.stub.SetLoggerLevel(pb.SetLoggerLevelRequest(logger="root", level="DEBUG"))
        restart, level = await read(watch, 2)

    assert restart.restart == pb.RequestRestartRequest(connector="a", only_failed=True)
    assert level.logger_level == pb.SetLoggerLevelRequest(logger="root", level="DEBUG")
    async with await watching(world) as watch:
        assert [kind(message) for message in await read(watch, 2)] == ["connector", "snapshot_complete"]


async def test_a_watch_resumes_after_a_revision_without_a_snapshot(world: Any) -> None:
    first = await world.stub.PutConnector(pb.PutConnectorRequest(name="a", config=CONFIG_MESSAGE))
    await world.stub.PutConnector(pb.PutConnectorRequest(name="b", config=CONFIG_MESSAGE))

    async with await watching(world, first.revision) as watch:
        (message,) = await read(watch, 1)

    assert message.connector.name == "b"


async def test_a_watch_that_cannot_resume_is_told_so(world: Any) -> None:
    first = await world.stub.PutConnector(pb.PutConnectorRequest(name="a", config=CONFIG_MESSAGE))
    for level in range(10):
        await world.stub.SetLoggerLevel(pb.SetLoggerLevelRequest(logger="root", level=f"L{level}"))

    async with await watching(world, first.revision) as watch:
        with pytest.raises(RemoteError) as end:
            await read(watch, 1)

    assert (end.value.remote_code.name, end.value.remote_code.grpc) == ("log.compacted", "OUT_OF_RANGE")


async def test_what_others_write_is_seen_and_what_is_malformed_is_not(world: Any) -> None:
    async with await watching(world) as watch:
        await read(watch, 1)
        world.write("connector-a", "nonsense")
        world.write("target-state-a", '{"state":"PAUSED"}')
        world.write("connector-a", '{"properties":{"k":"v"}}')
        (message,) = await read(watch, 1)

    assert message.connector.name == "a"
    assert message.connector.target_state == types_pb2.TARGET_STATE_PAUSED
