"""The offset service as it runs, on a real offsets topic."""

from __future__ import annotations

from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.types.v1.types_pb2 import SourceOffset
from copycat_testkit.kafka import consume_all, idempotent_producer, unique

from tests.integration.offset.service import properties_of, running


async def test_offsets_survive_the_service_and_are_kafka_connects_own_bytes(kafka: str) -> None:
    properties = properties_of(kafka, unique("cluster"))
    partition = '{"filename":"größe.txt"}'.encode()
    async with running(properties) as stub:
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
    async with running(properties) as stub:
        answer = await stub.ListSourceOffsets(pb.ListSourceOffsetsRequest(connector="orders"))
        assert [(each.partition, each.offset) for each in answer.offsets] == [(partition, b'{"position":57}')]


async def test_a_read_goes_to_the_end_of_what_others_have_written(kafka: str) -> None:
    properties = properties_of(kafka, unique("cluster"))
    async with running(properties) as stub:
        producer = idempotent_producer(kafka, {"partitioner": "murmur2_random"})
        for position in range(200):
            producer.produce(
                properties["offset.storage.topic"], key=b'["orders",{"f":1}]', value=b'{"n":%d}' % position
            )
        producer.flush(60)
        answer = await stub.ReadSourceOffsets(
            pb.ReadSourceOffsetsRequest(connector="orders", partitions=[b'{"f":1}'])
        )
        assert answer.offsets[0].offset == b'{"n":199}'
