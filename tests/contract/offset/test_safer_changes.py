"""What a change would do and how the last one is remembered, over gRPC."""

from __future__ import annotations

import json

import pytest
from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TopicPartition
from copycat_offset.domain.moves import Bounds, Unplaced
from copycat_rpc.errors import RemoteError

from tests.contract.offset.service import Service, running
from tests.contract.reading import answer_after, beyond

GROUP = "connect-sink"
P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
CHANGE = pb.OffsetsChange(
    connector="orders",
    changed_at=1000,
    source_moves=[pb.SourceMove(partition=b'{"f":"a"}', before=b'{"n":1}')],
)
SINK_CHANGE = pb.OffsetsChange(
    connector="sink",
    changed_at=1000,
    reset=True,
    undone_at=2000,
    group_id=GROUP,
    sink_moves=[pb.SinkMove(topic="t", partition=0, before=5)],
)


def filled(service: Service) -> None:
    """Give the group two positions in a topic of two partitions."""
    service.groups.groups[GROUP] = {P0: 50, P1: 50}
    service.groups.topics = {P0: Bounds(10, 100, 20), P1: Bounds(0, 60, None)}


async def remembered(service: Service, connector: str) -> pb.OffsetsChange | None:
    """Return the last change of a connector."""
    answer = await service.stub.GetLastChange(pb.GetLastChangeRequest(connector=connector))
    return answer.change if answer.HasField("change") else None


async def test_what_named_positions_would_do_is_told_and_not_done() -> None:
    async with running() as service:
        filled(service)
        service.groups.active.add(GROUP)
        answer = await service.stub.DescribeSinkMoves(
            pb.DescribeSinkMovesRequest(
                group_id=GROUP,
                overrides=types_pb2.Config(
                    entries=[types_pb2.ConfigEntry(key="consumer.override.a", value="b")]
                ),
                offsets=[types_pb2.TopicPartitionOffset(topic="t", partition=1, offset=61)],
                removed=[types_pb2.TopicPartition(topic="t", partition=0)],
            )
        )
        assert list(answer.effects) == [
            pb.SinkEffect(
                move=pb.SinkMove(topic="t", partition=0, before=50),
                low=10,
                high=100,
                repeated_records=40,
                skipped_records=0,
            ),
            pb.SinkEffect(
                move=pb.SinkMove(topic="t", partition=1, before=50, after=61),
                low=0,
                high=60,
                repeated_records=50,
                skipped_records=0,
                out_of_range=True,
            ),
        ]
        assert service.groups.overrides == [{"consumer.override.a": "b"}]
        assert service.groups.groups[GROUP] == {P0: 50, P1: 50}


async def test_what_a_reset_would_do_depends_on_where_the_consumer_begins() -> None:
    async with running() as service:
        filled(service)
        service.groups.begins = Unplaced.END
        answer = await service.stub.DescribeSinkMoves(pb.DescribeSinkMovesRequest(group_id=GROUP, reset=True))
        assert [(each.repeated_records, each.skipped_records) for each in answer.effects] == [
            (0, 50),
            (0, 10),
        ]
        assert not any(each.move.HasField("after") for each in answer.effects)


@pytest.mark.parametrize(("only_back", "second"), [(False, 60), (True, 50)])
async def test_where_a_time_is_is_told_for_every_position(only_back: bool, second: int) -> None:
    async with running() as service:
        filled(service)
        request = pb.DescribeSinkMovesRequest(group_id=GROUP, time=-5, only_back=only_back)
        answer = await service.stub.DescribeSinkMoves(request)
        assert [each.move.after for each in answer.effects] == [20, second]
        assert [each.nothing_since for each in answer.effects] == [False, True]
        assert service.groups.times == [0]


async def test_a_group_without_positions_has_nothing_to_move() -> None:
    async with running() as service:
        for request in (
            pb.DescribeSinkMovesRequest(group_id=GROUP, reset=True),
            pb.DescribeSinkMovesRequest(group_id=GROUP, time=5),
        ):
            assert not (await service.stub.DescribeSinkMoves(request)).effects
        assert service.groups.times == []


async def test_what_is_no_position_is_refused() -> None:
    async with running() as service:
        wrong = types_pb2.TopicPartitionOffset(topic="t", partition=0, offset=-1)
        with pytest.raises(RemoteError) as refused:
            await service.stub.DescribeSinkMoves(pb.DescribeSinkMovesRequest(group_id=GROUP, offsets=[wrong]))
        assert refused.value.remote_code.name == "offset.format"


@pytest.mark.parametrize("change", [CHANGE, SINK_CHANGE], ids=["source", "sink"])
async def test_a_change_is_remembered_under_a_key_that_kafka_connect_passes_over(
    change: pb.OffsetsChange,
) -> None:
    async with running() as service:
        assert await remembered(service, change.connector) is None
        for _ in range(2):
            await service.stub.RememberChange(pb.RememberChangeRequest(change=change))
        assert await remembered(service, change.connector) == change
        [entry] = service.topic.entries
        assert json.loads(entry.record.key) == [f"\0undo:{change.connector}", None]
        listed = await service.stub.ListSourceOffsets(pb.ListSourceOffsetsRequest(connector=change.connector))
        assert not listed.offsets


async def test_a_change_of_what_is_no_partition_is_refused() -> None:
    async with running() as service:
        wrong = pb.OffsetsChange(connector="c", sink_moves=[pb.SinkMove(topic="", partition=0)])
        with pytest.raises(RemoteError) as refused:
            await service.stub.RememberChange(pb.RememberChangeRequest(change=wrong))
        assert refused.value.remote_code.name == "offset.format"
        assert not service.topic.entries


async def test_a_read_of_the_last_change_waits_for_the_revision_it_asks_for() -> None:
    async with running() as service:
        remember = service.stub.RememberChange
        first = await remember(pb.RememberChangeRequest(change=CHANGE))
        second = pb.OffsetsChange(connector="orders", changed_at=2000)
        answer = await answer_after(
            lambda revision: service.stub.GetLastChange(
                pb.GetLastChangeRequest(connector="orders", min_revision=revision)
            ),
            beyond(first.revision),
            lambda: remember(pb.RememberChangeRequest(change=second)),
        )
        assert answer.change == second
