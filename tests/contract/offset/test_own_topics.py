"""Source offsets of connectors with an offsets topic of their own, or delivered exactly once."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.types.v1.types_pb2 import SourceOffset
from copycat_connect.errors import UnavailableError
from copycat_eventlog.log import Record
from copycat_offset.domain.errors import TransactionRefusedError
from copycat_offset.domain.events import SourceOffsetCommitted, SourceOffsetForgotten
from copycat_offset.domain.evolve import evolve
from copycat_rpc.errors import RemoteError
from copycat_rpc.messages import config_to_proto

from tests.contract.offset.service import Service, running

OWN = {"offsets.storage.topic": "mine", "producer.override.client.id": "me"}
A, B = b'{"f":"a"}', b'{"f":"b"}'
ONE, TWO = b'{"n":1}', b'{"n":2}'


def store(keys: Mapping[str, str] = OWN, *, exactly_once: bool = False) -> pb.OffsetsStore:
    return pb.OffsetsStore(config=config_to_proto(keys), exactly_once=exactly_once)


def offsets(**given: bytes | None) -> list[SourceOffset]:
    """Return offsets of the partitions a and b."""
    return [
        SourceOffset(partition=b'{"f":"%s"}' % name.encode(), offset=each) for name, each in given.items()
    ]


async def commit(service: Service, home: pb.OffsetsStore, generation: int = 1, **given: bytes | None) -> None:
    request = pb.CommitSourceOffsetsRequest(
        connector="orders", generation=generation, offsets=offsets(**given), store=home
    )
    await service.stub.CommitSourceOffsets(request, timeout=60)


async def alter(service: Service, home: pb.OffsetsStore, **given: bytes | None) -> None:
    request = pb.AlterSourceOffsetsRequest(connector="orders", offsets=offsets(**given), store=home)
    await service.stub.AlterSourceOffsets(request, timeout=60)


async def listed(service: Service, home: pb.OffsetsStore | None) -> dict[bytes, bytes]:
    answer = await service.stub.ListSourceOffsets(
        pb.ListSourceOffsetsRequest(connector="orders", store=home), timeout=60
    )
    return {each.partition: each.offset for each in answer.offsets}


def in_the_workers(service: Service) -> list[tuple[bytes, bytes | None]]:
    return [(entry.record.key, entry.record.value) for entry in service.topic.entries]


@pytest.mark.row("K875-25", "K875-30")
async def test_a_commit_goes_to_the_own_topic_and_is_copied_into_the_workers() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        await commit(service, store(), a=ONE)
        assert service.homes.asked == [(OWN, False)]
        assert service.homes.written == [(SourceOffsetCommitted("orders", A, ONE),)]
        assert in_the_workers(service) == [(b'["orders",{"f":"a"}]', ONE)]
        assert await listed(service, None) == await listed(service, store()) == {A: ONE}


@pytest.mark.row("K875-30")
async def test_the_own_topic_counts_first_and_both_are_shown() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        service.topic.write([Record(b'["orders",{"f":"a"}]', ONE), Record(b'["orders",{"f":"b"}]', ONE)])
        service.homes.state = evolve(service.homes.state, SourceOffsetCommitted("orders", A, TWO))
        assert await listed(service, store()) == {A: TWO, B: ONE}
        assert await listed(service, None) == {A: ONE, B: ONE}, "without its store only the worker's are seen"
        answer = await service.stub.ReadSourceOffsets(
            pb.ReadSourceOffsetsRequest(connector="orders", partitions=[B, A], store=store()), timeout=60
        )
        assert [each.offset for each in answer.offsets] == [ONE, TWO]


@pytest.mark.row("K875-25")
async def test_what_is_forgotten_is_forgotten_in_the_workers_topic_first() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        await commit(service, store(), a=ONE, b=ONE)
        service.homes.refusal = UnavailableError("the own topic is away")
        with pytest.raises(RemoteError, match="is away"):
            await alter(service, store(), a=None, b=TWO)
        assert in_the_workers(service).count((b'["orders",{"f":"a"}]', None)) == 1
        assert (b'["orders",{"f":"b"}]', TWO) not in in_the_workers(service), "its copy is made last"
        assert await listed(service, store()) == {A: ONE, B: ONE}, "the own topic still has it"
        service.homes.refusal = None
        await alter(service, store(), a=None, b=TWO)
        assert service.homes.written[-1] == (
            SourceOffsetForgotten("orders", A),
            SourceOffsetCommitted("orders", B, TWO),
        )
        assert await listed(service, store()) == await listed(service, None) == {B: TWO}


async def test_a_commit_of_an_older_generation_does_not_reach_the_own_topic() -> None:
    async with running() as service:
        service.scheduler.assign("orders", 0, 3)
        service.scheduler.say(snapshot_complete=True)
        await service.knows("orders", 0, 3)
        for exactly_once in (False, True):
            for keys in (OWN, {}):
                with pytest.raises(RemoteError) as refused:
                    await commit(service, store(keys, exactly_once=exactly_once), generation=2, a=ONE)
                assert refused.value.remote_code.name == "generation.stale"
        assert (service.homes.written, in_the_workers(service)) == ([], [])


async def test_offsets_that_a_task_wrote_itself_are_only_copied() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        await commit(service, store(exactly_once=True), a=ONE)
        assert in_the_workers(service) == [(b'["orders",{"f":"a"}]', ONE)]
        assert (service.homes.written, service.homes.transactions) == ([], [])


async def test_offsets_that_a_task_wrote_to_the_workers_topic_are_not_written_again() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        service.topic.write([Record(b'["orders",{"f":"a"}]', TWO)])
        await commit(service, store({}, exactly_once=True), a=ONE)
        assert await listed(service, store({}, exactly_once=True)) == {A: TWO}, "its next transaction counts"


@pytest.mark.row("K875-19", "K875-26")
async def test_an_exactly_once_change_is_one_transaction_on_the_own_topic_then_copied() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        await alter(service, store(exactly_once=True), a=ONE, b=None)
        assert service.homes.transactions == [
            ("orders", (SourceOffsetCommitted("orders", A, ONE), SourceOffsetForgotten("orders", B)))
        ]
        assert service.homes.written == []
        assert in_the_workers(service) == [(b'["orders",{"f":"a"}]', ONE)]


@pytest.mark.row("K875-19")
async def test_an_exactly_once_change_of_the_workers_topic_is_not_written_by_the_service_itself() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        await alter(service, store({}, exactly_once=True), a=ONE)
        assert [name for name, _ in service.homes.transactions] == ["orders"]
        assert in_the_workers(service) == []


@pytest.mark.row("K875-48")
async def test_a_transactional_id_that_is_not_allowed_is_named_with_the_remedy() -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        service.homes.refusal = TransactionRefusedError("cluster-orders-0", "kafka:9092")
        with pytest.raises(RemoteError) as refused:
            await alter(service, store(exactly_once=True), a=ONE)
        assert (refused.value.remote_code.name, refused.value.remote_code.http) == (
            "offsets.transaction_refused",
            500,
        )
        for word in (
            "cluster-orders-0",
            "kafka:9092",
            "WRITE and DESCRIBE",
            "producer.override.sasl.jaas.config",
        ):
            assert word in refused.value.message
        assert in_the_workers(service) == []


@pytest.mark.parametrize("exactly_once", [False, True])
async def test_offsets_that_cannot_be_are_refused_before_anything_is_written(exactly_once: bool) -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        with pytest.raises(RemoteError, match="Offsets may only contain primitive types"):
            await alter(service, store(exactly_once=exactly_once), a=ONE, b=b'{"n":[]}')
        assert (service.homes.written, service.homes.transactions, in_the_workers(service)) == ([], [], [])


@pytest.mark.parametrize("known", [ONE, None])
async def test_what_a_commit_expects_is_compared_with_the_own_topic(known: bytes | None) -> None:
    async with running() as service:
        service.scheduler.say(snapshot_complete=True)
        service.topic.write([Record(b'["orders",{"f":"a"}]', ONE)])
        service.homes.state = evolve(service.homes.state, SourceOffsetCommitted("orders", A, TWO))
        request = pb.CommitSourceOffsetsRequest(
            connector="orders",
            generation=1,
            offsets=offsets(a=ONE, b=TWO),
            expected=offsets(a=known),
            store=store(),
        )
        with pytest.raises(RemoteError) as refused:
            await service.stub.CommitSourceOffsets(request, timeout=60)
        assert refused.value.remote_code.name == "offsets.moved"
        assert service.homes.written == []
        request.expected[0].offset = TWO
        await service.stub.CommitSourceOffsets(request, timeout=60)
        assert await listed(service, store()) == {A: ONE, B: TWO}
