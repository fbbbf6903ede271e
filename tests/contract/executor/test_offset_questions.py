"""Author code that is asked about offsets: what moves would do, and which are of a time."""

from __future__ import annotations

import pytest
from copycat.executor.v1 import executor_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_rpc.errors import RemoteError
from copycat_rpc.messages import config_to_proto

from tests.contract.executor.world import SINK, SOURCE, World, world

TIME = b'{"at":"2025-11-22T10:00:00.500000+00:00"}'
MOVES = [
    pb.OffsetsMove(partition=b'{"p":1}', before=b'{"o":2}', after=b'{"o":1}'),
    pb.OffsetsMove(partition=b'{"p":2}', after=b'{"o":1}'),
]


def config(connector: dict[str, str], **more: str) -> types_pb2.Config:
    """Return a configuration; underscores stand for dots."""
    return config_to_proto(
        {"name": "orders", **connector, **{key.replace("_", "."): value for key, value in more.items()}}
    )


async def explain(it: World, asked: types_pb2.Config) -> pb.ExplainOffsetsResponse:
    """Ask what `MOVES` would do."""
    request = pb.ExplainOffsetsRequest(config=asked, moves=MOVES)
    answer: pb.ExplainOffsetsResponse = await it.gateway.ExplainOffsets(request, timeout=10)
    return answer


async def find(it: World, asked: types_pb2.Config) -> pb.FindOffsetsResponse:
    """Ask for the offsets of a time."""
    known = [types_pb2.SourceOffset(partition=b'{"b":1.0,"a":2}', offset=b"{}")]
    request = pb.FindOffsetsRequest(config=asked, offsets=known, time=1_763_805_600_500)
    answer: pb.FindOffsetsResponse = await it.gateway.FindOffsets(request, timeout=10)
    return answer


async def test_a_source_says_what_moves_would_do_as_far_as_it_can_tell() -> None:
    async with world() as it:
        answer = await explain(it, config(SOURCE))
        assert answer.known
        assert list(answer.effects) == [pb.OffsetsEffect(repeated_count=2, unit="crates"), pb.OffsetsEffect()]


async def test_a_source_finds_offsets_and_a_known_partition_keeps_its_bytes() -> None:
    async with world() as it:
        answer = await find(it, config(SOURCE))
        assert answer.known
        assert list(answer.offsets) == [
            types_pb2.SourceOffset(
                partition=b'{"new":1}', offset=b'{"at":"2025-11-22T10:00:00.500000+00:00"}'
            ),
            types_pb2.SourceOffset(partition=b'{"b":1.0,"a":2}'),
        ]


async def test_a_connector_that_can_tell_nothing_is_no_error() -> None:
    async with world() as it:
        for asked in (config(SINK), config(SOURCE, on_explain="nothing", on_find="nothing")):
            assert await explain(it, asked) == pb.ExplainOffsetsResponse()
            assert await find(it, asked) == pb.FindOffsetsResponse()


@pytest.mark.parametrize(
    ("behaviour", "text"),
    [("raise", "the author says no"), ("one short", "told 1 effects of 2 moves: one of each is wanted")],
)
async def test_author_code_that_fails_says_why(behaviour: str, text: str) -> None:
    async with world() as it:
        with pytest.raises(RemoteError, match=text):
            await explain(it, config(SOURCE, on_explain=behaviour))
