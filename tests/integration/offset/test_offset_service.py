"""The offset service as it runs, on a real offsets topic."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from confluent_kafka import Producer
from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceStub
from copycat.types.v1.types_pb2 import SourceOffset
from copycat_offset.main import serve
from copycat_rpc.channel import open_channel
from copycat_testkit.kafka import consume_all, unique

if TYPE_CHECKING:
    from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceAsyncStub


def _properties(kafka: str, group: str) -> dict[str, str]:
    return {
        "bootstrap.servers": kafka,
        "group.id": group,
        "offset.listen": "127.0.0.1:0",
        "offset.storage.topic": f"{group}-offsets",
        "offset.storage.replication.factor": "1",
        "offset.storage.partitions": "5",
    }


@asynccontextmanager
async def _running(properties: dict[str, str]) -> AsyncIterator[OffsetServiceAsyncStub]:
    stop, bound = asyncio.Event(), asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(properties, stop, bound.set_result))
    await asyncio.wait((serving, bound), return_when=asyncio.FIRST_COMPLETED, timeout=60)
    if serving.done():
        serving.result()
    async with open_channel([bound.result()]) as channel:
        yield OffsetServiceStub(channel)
    stop.set()
    await serving


async def test_offsets_survive_the_service_and_are_kafka_connects_own_bytes(kafka: str) -> None:
    properties = _properties(kafka, unique("cluster"))
    partition = '{"filename":"größe.txt"}'.encode()
    async with _running(properties) as stub:
        await stub.CommitSourceOffsets(
            pb.CommitSourceOffsetsRequest(
                connector="orders",
                generation=1,
                offsets=[SourceOffset(partition=partition, offset=b'{"position":57}')],
            )
        )
    (message,) = consume_all(kafka, properties["offset.storage.topic"])
    assert message.key() == '["orders",{"filename":"größe.txt"}]'.encode()
    assert message.value() == b'{"position":57}'
    async with _running(properties) as stub:
        answer = await stub.ListSourceOffsets(pb.ListSourceOffsetsRequest(connector="orders"))
        assert [(each.partition, each.offset) for each in answer.offsets] == [(partition, b'{"position":57}')]


async def test_a_read_goes_to_the_end_of_what_others_have_written(kafka: str) -> None:
    properties = _properties(kafka, unique("cluster"))
    async with _running(properties) as stub:
        producer = Producer({"bootstrap.servers": kafka, "partitioner": "murmur2_random"})
        for position in range(200):
            producer.produce(
                properties["offset.storage.topic"], key=b'["orders",{"f":1}]', value=b'{"n":%d}' % position
            )
        producer.flush(20)
        answer = await stub.ReadSourceOffsets(
            pb.ReadSourceOffsetsRequest(connector="orders", partitions=[b'{"f":1}'])
        )
        assert answer.offsets[0].offset == b'{"n":199}'
