"""Source offsets over gRPC."""

import asyncio
import time
from typing import Any

import psutil
import pytest
from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.types.v1.types_pb2 import SourceOffset
from copycat_eventlog.log import Record
from copycat_eventlog.memory import MemoryTopic
from copycat_rpc.errors import RemoteError

from tests.contract.offset.service import Service, running
from tests.contract.reading import answer_after, beyond

FILE = b'{"filename":"in.txt"}'
#: How long a commit waits for a scheduler, seconds: far longer than a commit takes.
PATIENCE = 3.0
MANY_PARTITIONS = 100_000
#: What the service may take for one.
BYTES_OF_A_PARTITION = 4096


def _commit(generation: int, *offsets: SourceOffset) -> pb.CommitSourceOffsetsRequest:
    return pb.CommitSourceOffsetsRequest(connector="orders", task=0, generation=generation, offsets=offsets)


async def _listed(service: Service) -> dict[bytes, bytes]:
    answer = await service.stub.ListSourceOffsets(pb.ListSourceOffsetsRequest(connector="orders"), timeout=60)
    return {each.partition: each.offset for each in answer.offsets}


async def test_a_commit_is_read_back_and_written_as_kafka_connect_writes_it() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        answer = await service.stub.CommitSourceOffsets(
            _commit(7, SourceOffset(partition=FILE, offset=b'{"n":1}'))
        )
        assert sum(answer.revision.next.values()) == 1
        (entry,) = service.topic.entries
        assert entry.record == Record(b'["orders",{"filename":"in.txt"}]', b'{"n":1}')
        assert await _listed(service) == {FILE: b'{"n":1}'}


async def test_offsets_are_read_in_the_order_asked_with_none_where_there_is_none() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        await service.stub.CommitSourceOffsets(_commit(1, SourceOffset(partition=FILE, offset=b'{"n":1}')))
        answer = await service.stub.ReadSourceOffsets(
            pb.ReadSourceOffsetsRequest(connector="orders", partitions=[b'{"filename":"x"}', FILE])
        )
        assert [(each.partition, each.HasField("offset"), each.offset) for each in answer.offsets] == [
            (b'{"filename":"x"}', False, b""),
            (FILE, True, b'{"n":1}'),
        ]


async def test_what_another_writer_put_on_the_topic_is_seen() -> None:
    async with running() as service:
        service.topic.write([Record(b'["orders",{"a":1}]', b'{"n":1}'), Record(b"rubbish", b"x")])
        assert await _listed(service) == {b'{"a":1}': b'{"n":1}'}


async def test_altering_sets_and_forgets_only_what_is_named() -> None:
    async with running() as service:
        alter = service.stub.AlterSourceOffsets
        three = [SourceOffset(partition=b'{"p":%d}' % i, offset=b'{"n":1}') for i in range(3)]
        await alter(pb.AlterSourceOffsetsRequest(connector="orders", offsets=three))
        change = [SourceOffset(partition=b'{"p":0}'), SourceOffset(partition=b'{"p":1}', offset=b'{"n":2}')]
        await alter(pb.AlterSourceOffsetsRequest(connector="orders", offsets=change))
        assert await _listed(service) == {b'{"p":1}': b'{"n":2}', b'{"p":2}': b'{"n":1}'}
        assert service.topic.entries
        before = len(service.topic.entries)
        await alter(pb.AlterSourceOffsetsRequest(connector="orders", offsets=change))
        assert len(service.topic.entries) == before


async def test_a_commit_of_an_older_generation_is_refused() -> None:
    async with running() as service:
        service.scheduler.assign("orders", 0, 8)
        service.scheduler.say(snapshot_complete=True)
        with pytest.raises(RemoteError) as refused:
            await service.stub.CommitSourceOffsets(_commit(7, SourceOffset(partition=FILE, offset=b"{}")))
        assert refused.value.remote_code.name == "generation.stale"
        assert refused.value.remote_code.grpc == "ABORTED"
        assert refused.value.fields["newest"] == "8"
        assert not service.topic.entries


async def test_the_last_commit_after_an_assignment_was_removed_is_accepted_but_no_older_one() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        service.scheduler.assign("orders", 0, 8)
        service.scheduler.unassign("orders", 0)
        service.scheduler.assign("other", 0, 9)
        await service.knows("other", 0, 9)
        await service.stub.CommitSourceOffsets(_commit(8, SourceOffset(partition=FILE, offset=b"{}")))
        with pytest.raises(RemoteError):
            await service.stub.CommitSourceOffsets(_commit(7, SourceOffset(partition=FILE, offset=b"{}")))


async def test_a_commit_newer_than_the_scheduler_is_known_to_be_is_accepted() -> None:
    async with running() as service:
        service.scheduler.assign("orders", 0, 8)
        service.scheduler.say(snapshot_complete=True)
        await service.stub.CommitSourceOffsets(_commit(9, SourceOffset(partition=FILE, offset=b"{}")))


async def test_without_a_scheduler_commits_wait_once_and_are_then_accepted() -> None:
    async with running(patience=PATIENCE) as service:
        begun = time.monotonic()
        await service.stub.CommitSourceOffsets(_commit(1, SourceOffset(partition=FILE, offset=b'{"n":1}')))
        assert time.monotonic() - begun >= PATIENCE
        waited = time.monotonic()
        await service.stub.CommitSourceOffsets(_commit(1, SourceOffset(partition=FILE, offset=b'{"n":2}')))
        assert time.monotonic() - waited < PATIENCE, "it waits once, not again"


@pytest.mark.row("K26-16")
@pytest.mark.parametrize(
    ("partition", "offset", "text"),
    [
        (b"[1]", b"{}", "Offsets must be specified as a Map"),
        (FILE, b'"x"', "Offsets must be specified as a Map"),
        (
            FILE,
            b'{"f":{"a":1}}',
            "Offsets may only contain primitive types as values, but field 'f' contains MAP",
        ),
        (
            b'{"f":[1]}',
            b"{}",
            "Offsets may only contain primitive types as values, but field 'f' contains ARRAY",
        ),
        (b" {}", b"{}", "A source partition is compact JSON without blanks around it"),
        (b"{", b"{}", "A source partition or offset is not JSON"),
        (FILE, b'{"f":NaN}', "A source partition or offset is not JSON"),
    ],
)
async def test_a_text_that_is_no_flat_map_is_refused(partition: bytes, offset: bytes, text: str) -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        wrong = SourceOffset(partition=partition, offset=offset)
        for call, request in (
            (service.stub.CommitSourceOffsets, _commit(1, wrong)),
            (
                service.stub.AlterSourceOffsets,
                pb.AlterSourceOffsetsRequest(connector="orders", offsets=[wrong]),
            ),
        ):
            with pytest.raises(RemoteError) as refused:
                await call(request)
            assert refused.value.remote_code.name == "offset.format"
            assert refused.value.message.startswith(text)
        assert not service.topic.entries


@pytest.mark.row("K26-18")
async def test_a_hundred_thousand_partitions_are_committed_and_listed() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        offsets = [
            SourceOffset(partition=b'{"file":"f%d"}' % i, offset=b'{"position":%d}' % i)
            for i in range(MANY_PARTITIONS)
        ]
        await service.stub.CommitSourceOffsets(_commit(1, *offsets), timeout=60)
        listed = await _listed(service)
        assert listed == {each.partition: each.offset for each in offsets}


@pytest.mark.row("K26-18")
async def test_a_restarted_service_gives_a_hundred_thousand_partitions_each_its_own_offset() -> None:
    topic, memory = MemoryTopic(25), psutil.Process().memory_info
    topic.write(
        [Record(b'["orders",{"file":"f%d"}]' % i, b'{"position":%d}' % i) for i in range(MANY_PARTITIONS)]
    )
    before = memory().rss
    async with running(topic=topic) as service:
        for first in range(0, MANY_PARTITIONS, 5000):
            asked = [b'{"file":"f%d"}' % i for i in range(first, first + 5000)]
            request = pb.ReadSourceOffsetsRequest(connector="orders", partitions=asked)
            answer = await service.stub.ReadSourceOffsets(request, timeout=60)
            assert [each.offset for each in answer.offsets] == [
                b'{"position":%d}' % i for i in range(first, first + 5000)
            ]
        assert memory().rss - before < MANY_PARTITIONS * BYTES_OF_A_PARTITION


@pytest.mark.parametrize(
    "read",
    [
        lambda stub, asked: stub.ReadSourceOffsets(
            pb.ReadSourceOffsetsRequest(connector="orders", partitions=[FILE], min_revision=asked)
        ),
        lambda stub, asked: stub.ListSourceOffsets(
            pb.ListSourceOffsetsRequest(connector="orders", min_revision=asked)
        ),
    ],
)
async def test_a_read_waits_for_the_revision_it_asks_for(read: Any) -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        first, second = (SourceOffset(partition=FILE, offset=text) for text in (b'{"n":1}', b'{"n":2}'))
        asked = beyond((await service.stub.CommitSourceOffsets(_commit(1, first))).revision)

        answer = await answer_after(
            lambda revision: read(service.stub, revision),
            asked,
            lambda: service.stub.CommitSourceOffsets(_commit(1, second)),
        )

        assert list(answer.offsets) == [second]
        assert answer.revision == asked


@pytest.mark.row("K875-10")
async def test_nothing_is_altered_under_tasks_that_are_assigned() -> None:
    async with running() as service:
        service.scheduler.assign("orders", 0, 3)
        service.scheduler.say(snapshot_complete=True)
        await service.knows("orders", 0, 3)
        request = pb.AlterSourceOffsetsRequest(
            connector="orders", offsets=[SourceOffset(partition=FILE, offset=b'{"n":1}')]
        )
        with pytest.raises(RemoteError, match="Stop it, then try again") as refused:
            await service.stub.AlterSourceOffsets(request, timeout=60)
        assert (refused.value.remote_code.name, refused.value.remote_code.http) == ("offsets.in_use", 409)
        assert await _listed(service) == {}
        waiting = asyncio.ensure_future(service.stub.AlterSourceOffsets(request, timeout=60))
        service.scheduler.unassign("orders", 0)
        await waiting
        assert await _listed(service) == {FILE: b'{"n":1}'}


async def test_of_two_tasks_that_know_the_same_offset_one_may_commit() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)

        async def move(task: int, known: bytes | None, to: bytes) -> None:
            request = _commit(1, SourceOffset(partition=FILE, offset=to))
            request.task = task
            request.expected.append(SourceOffset(partition=FILE, offset=known))
            await service.stub.CommitSourceOffsets(request)

        await move(0, None, b'{"n":1}')
        await move(0, b'{"n":1}', b'{"n":2}')
        for known in (b'{"n":1}', None):
            with pytest.raises(RemoteError, match="begins again from there") as refused:
                await move(1, known, b'{"n":2}')
            assert refused.value.remote_code.name == "offsets.moved"
        assert len(service.topic.entries) == 2
        await move(1, b'{"n":2}', b'{"n":3}')
        assert await _listed(service) == {FILE: b'{"n":3}'}
