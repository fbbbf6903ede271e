"""GET /connectors/{name}/offsets: golden answers."""

from __future__ import annotations

import pytest
from copycat_connect.errors import ConnectError

from tests.contract.gateway.world import World

SINK = {"connector.class": "FileStreamSink", "topics": "t"}


@pytest.mark.row("K875-01", "K875-03")
async def test_source_offsets_are_the_connectors_own_maps(cluster: World) -> None:
    cluster.config.has("c")
    cluster.offset.source["c"] = {
        '{"filename":"/ä.txt"}'.encode(): b'{"position":57,"big":12345678901234567890123}'
    }

    reply = await cluster.rest.get("/connectors/c/offsets")

    assert (
        reply.content
        == (
            '{"offsets":[{"partition":{"filename":"/ä.txt"},'
            '"offset":{"position":57,"big":12345678901234567890123}}]}'
        ).encode()
    )


@pytest.mark.row("K875-02", "K875-03")
async def test_sink_offsets_are_topic_partition_and_position(cluster: World) -> None:
    cluster.config.has("c", SINK)
    cluster.config.has("d", {**SINK, "consumer.override.group.id": "g"})
    cluster.offset.groups = {"connect-c": {("t", 1): 3, ("t", 0): 10}, "g": {("u", 0): 1}}

    default = await cluster.rest.get("/connectors/c/offsets")
    override = await cluster.rest.get("/connectors/d/offsets")

    assert default.content == (
        b'{"offsets":[{"partition":{"kafka_topic":"t","kafka_partition":0},"offset":{"kafka_offset":10}},'
        b'{"partition":{"kafka_topic":"t","kafka_partition":1},"offset":{"kafka_offset":3}}]}'
    )
    assert override.json()["offsets"][0]["partition"]["kafka_topic"] == "u"


async def test_no_offsets_are_an_empty_list(cluster: World) -> None:
    cluster.config.has("c")
    cluster.config.has("d", SINK)

    for name in ("c", "d"):
        assert (await cluster.rest.get(f"/connectors/{name}/offsets")).content == b'{"offsets":[]}'


async def test_a_failing_offset_service_is_told_in_connects_words(cluster: World) -> None:
    cluster.config.has("c")
    cluster.config.has("d", SINK)
    cluster.offset.fails = ConnectError("broker away")

    for path, text in (
        ("/connectors/c/offsets", "Failed to retrieve offsets for source connector c"),
        ("/connectors/d/offsets", "Failed to retrieve consumer group offsets for sink connector d"),
    ):
        reply = await cluster.rest.get(path)
        assert (reply.status_code, reply.json()["message"]) == (500, text)
