"""Sink offsets over gRPC.

Following a watch through everything that ends a stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.scheduler.v1.scheduler_service_pb2 import Instance, WatchAssignmentsResponse
from copycat.types.v1 import types_pb2
from copycat.types.v1.types_pb2 import Revision
from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import ErrorCode, LogCompactedError, UnavailableError
from copycat_rpc.errors import RemoteError
from copycat_rpc.following import follow
from copycat_serving.beside import beside
from copycat_testkit.eventually import eventually

from tests.contract.offset.service import running

GROUP = "connect-sink"


def _position(partition: int, offset: int) -> types_pb2.TopicPartitionOffset:
    return types_pb2.TopicPartitionOffset(topic="t", partition=partition, offset=offset)


def _commit(generation: int, *offsets: types_pb2.TopicPartitionOffset) -> pb.CommitSinkOffsetsRequest:
    return pb.CommitSinkOffsetsRequest(
        connector="sink", task=1, generation=generation, group_id=GROUP, offsets=offsets
    )


async def test_positions_are_committed_and_listed_in_order() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        await service.stub.CommitSinkOffsets(_commit(3, _position(2, 7), _position(0, 5)))
        answer = await service.stub.ListSinkOffsets(pb.ListSinkOffsetsRequest(group_id=GROUP))
        assert list(answer.offsets) == [_position(0, 5), _position(2, 7)]


async def test_a_position_in_a_topic_that_is_gone_is_dropped_by_a_commit_and_told_by_a_change() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        service.groups.gone.add(TopicPartition("t", 2))

        await service.stub.CommitSinkOffsets(_commit(3, _position(2, 7), _position(0, 5)))

        assert service.groups.groups[GROUP] == {TopicPartition("t", 0): 5}
        with pytest.raises(RemoteError, match="unknown topic or partition"):
            await service.stub.AlterSinkOffsets(
                pb.AlterSinkOffsetsRequest(group_id=GROUP, offsets=[_position(2, 7)])
            )


async def test_a_commit_of_an_older_generation_is_refused() -> None:
    async with running() as service:
        service.scheduler.assign("sink", 1, 4)
        service.scheduler.say(snapshot_complete=True)
        with pytest.raises(RemoteError) as refused:
            await service.stub.CommitSinkOffsets(_commit(3, _position(0, 5)))
        assert refused.value.remote_code.name == "generation.stale"
        assert service.groups.groups == {}


async def test_once_a_task_of_a_newer_generation_asked_nothing_of_an_older_one_arrives() -> None:
    async with running() as service:
        service.scheduler.assign("sink", 1, 3)
        service.scheduler.say(snapshot_complete=True)
        service.groups.answering.clear()
        older = asyncio.ensure_future(service.stub.CommitSinkOffsets(_commit(3, _position(0, 5))))
        await eventually(lambda: service.groups.asked == [GROUP])

        newer = asyncio.ensure_future(service.stub.CommitSinkOffsets(_commit(4)))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(newer), 0.3)
        service.groups.answering.set()
        await newer

        assert service.groups.groups[GROUP] == {TopicPartition("t", 0): 5}
        await older
        with pytest.raises(RemoteError) as refused:
            await service.stub.CommitSinkOffsets(_commit(3, _position(0, 9)))
        assert refused.value.remote_code.name == "generation.stale"


async def test_a_negative_position_is_refused() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        with pytest.raises(RemoteError) as refused:
            await service.stub.CommitSinkOffsets(_commit(3, _position(0, -1)))
        assert refused.value.remote_code.name == "offset.format"


@pytest.mark.parametrize(
    ("topic", "partition", "text"),
    [
        ("", 0, "Partition 0 is of a topic without a name"),
        ("t", -1, "Partition -1 of topic t must not be negative"),
    ],
)
async def test_a_position_names_its_topic_and_a_partition(topic: str, partition: int, text: str) -> None:
    async with running() as service:
        named = types_pb2.TopicPartition(topic=topic, partition=partition)
        position = types_pb2.TopicPartitionOffset(topic=topic, partition=partition, offset=5)
        for change in ({"offsets": [position]}, {"removed": [named]}):
            with pytest.raises(RemoteError, match=text) as refused:
                await service.stub.AlterSinkOffsets(pb.AlterSinkOffsetsRequest(group_id=GROUP, **change))
            assert refused.value.remote_code.name == "offset.format"


async def test_altering_sets_and_removes() -> None:
    async with running() as service:
        service.groups.groups[GROUP] = {TopicPartition("t", 0): 1, TopicPartition("t", 1): 1}
        await service.stub.AlterSinkOffsets(
            pb.AlterSinkOffsetsRequest(
                group_id=GROUP,
                offsets=[_position(2, 9)],
                removed=[types_pb2.TopicPartition(topic="t", partition=0)],
            )
        )
        assert service.groups.groups[GROUP] == {TopicPartition("t", 1): 1, TopicPartition("t", 2): 9}


async def test_a_group_with_members_cannot_be_altered_or_deleted() -> None:
    async with running() as service:
        service.groups.active.add(GROUP)
        for call, request in (
            (
                service.stub.AlterSinkOffsets,
                pb.AlterSinkOffsetsRequest(group_id=GROUP, offsets=[_position(0, 1)]),
            ),
            (service.stub.DeleteSinkOffsets, pb.DeleteSinkOffsetsRequest(group_id=GROUP)),
        ):
            with pytest.raises(RemoteError) as refused:
                await call(request)
            assert refused.value.remote_code.name == "group.active"
            assert refused.value.remote_code.grpc == "FAILED_PRECONDITION"


async def test_a_group_is_deleted_and_an_unknown_one_counts_as_deleted() -> None:
    async with running() as service:
        service.groups.groups[GROUP] = {TopicPartition("t", 0): 1}
        for _ in range(2):
            await service.stub.DeleteSinkOffsets(pb.DeleteSinkOffsetsRequest(group_id=GROUP))
        assert service.groups.groups == {}


COMPACTED = RemoteError(ErrorCode(LogCompactedError.code.name, "OUT_OF_RANGE", 500), "gone")


def _change(name: str, position: int) -> WatchAssignmentsResponse:
    return WatchAssignmentsResponse(removed=Instance(connector=name), revision=Revision(next={0: position}))


def _complete(position: int) -> WatchAssignmentsResponse:
    return WatchAssignmentsResponse(snapshot_complete=True, revision=Revision(next={0: position}))


async def _heard(*streams: tuple[WatchAssignmentsResponse | Exception, ...]) -> list[str]:
    """Follow these streams one after the other, and return all that was heard."""
    heard, left, over = list[str](), list(streams), asyncio.Event()

    async def watch(after: Revision | None) -> AsyncIterator[WatchAssignmentsResponse]:
        heard.append(f"from {after.next[0]}" if after else "from start")
        for message in left.pop(0):
            if isinstance(message, Exception):
                raise message
            yield message
        if not left:
            over.set()
            await asyncio.Event().wait()

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(
            beside(
                lambda: follow(
                    watch,
                    snapshot=lambda all_of: heard.append(",".join(m.removed.connector for m in all_of)),
                    change=lambda message: heard.append(message.removed.connector),
                )
            )
        )
        async with asyncio.timeout(60):
            await over.wait()
    return heard


async def test_a_snapshot_comes_whole_and_changes_one_by_one() -> None:
    heard = await _heard((_change("a", 0), _change("b", 0), _complete(2), _change("c", 3)))
    assert heard == ["from start", "a,b", "c"]


async def test_a_lost_stream_is_resumed_after_the_last_change() -> None:
    heard = await _heard(
        (_complete(2), _change("c", 3), UnavailableError("away")),
        (UnavailableError("away"),),
        (_change("d", 4),),
    )
    assert heard == ["from start", "", "c", "from 3", "from 3", "d"]


async def test_half_a_snapshot_is_forgotten() -> None:
    heard = await _heard((_change("a", 0), UnavailableError("away")), (_change("b", 0), _complete(1)))
    assert heard == ["from start", "from start", "b"]


async def test_when_the_point_to_resume_from_is_gone_a_snapshot_is_asked_for() -> None:
    heard = await _heard((_complete(2),), (COMPACTED,), (_change("a", 0), _complete(9)))
    assert heard == ["from start", "", "from 2", "from start", "a"]
