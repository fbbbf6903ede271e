"""Sink offsets over gRPC."""

import asyncio

import pytest
from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TopicPartition
from copycat_rpc.errors import RemoteError
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
