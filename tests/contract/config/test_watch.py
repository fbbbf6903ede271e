"""What watchers of the config service see."""

from contextlib import aclosing
from typing import Any

import pytest
from copycat.config.v1 import config_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_rpc.errors import RemoteError
from copycat_rpc.messages import config_to_proto

CONFIG = config_to_proto({"connector.class": "FileStreamSource"})
TASK = config_to_proto({"task.class": "FileStreamSourceTask"})


def kind(message: pb.WatchConnectorsResponse) -> str | None:
    return message.WhichOneof("change")


async def read(watch: Any, count: int) -> list[pb.WatchConnectorsResponse]:
    return [await anext(watch) for _ in range(count)]


async def watching(world: Any, after: types_pb2.Revision | None = None) -> Any:
    return aclosing(aiter(world.stub.WatchConnectors(pb.WatchConnectorsRequest(after_revision=after))))


async def test_a_snapshot_is_marked_complete_with_its_revision(world: Any) -> None:
    for name in ("a", "b"):
        await world.stub.PutConnector(pb.PutConnectorRequest(name=name, config=CONFIG))

    async with await watching(world) as watch:
        messages = await read(watch, 3)

    assert [message.connector.name for message in messages[:2]] == ["a", "b"]
    assert messages[2].snapshot_complete
    assert dict(messages[2].revision.next) == {0: 2}


async def test_changes_follow_in_log_order_with_whole_connectors(world: Any) -> None:
    async with await watching(world) as watch:
        await read(watch, 1)
        await world.stub.PutConnector(pb.PutConnectorRequest(name="a", config=CONFIG))
        await world.stub.PutTaskConfigs(
            pb.PutTaskConfigsRequest(connector="a", tasks=[TASK, TASK], applied_config=CONFIG)
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
    await world.stub.PutConnector(pb.PutConnectorRequest(name="a", config=CONFIG))
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
    first = await world.stub.PutConnector(pb.PutConnectorRequest(name="a", config=CONFIG))
    await world.stub.PutConnector(pb.PutConnectorRequest(name="b", config=CONFIG))

    async with await watching(world, first.revision) as watch:
        (message,) = await read(watch, 1)

    assert message.connector.name == "b"


async def test_a_watch_that_cannot_resume_is_told_so(world: Any) -> None:
    first = await world.stub.PutConnector(pb.PutConnectorRequest(name="a", config=CONFIG))
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
