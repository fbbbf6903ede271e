"""GET /connectors/{name}/offsets: golden answers.

Active topics (KIP-558): what the status service says, in Kafka Connect's words.
"""

from __future__ import annotations

import pytest
from copycat_connect.errors import ConnectError

from tests.contract.gateway.fake_services import ResetDisabledError, TrackingDisabledError
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


SHOW, RESET = ("GET", "/connectors/c/topics"), ("PUT", "/connectors/c/topics/reset")


async def test_topics_are_listed_reset_and_empty_for_the_unknown(cluster: World) -> None:
    cluster.status.topics["c"] = ["t1", "t2"]

    known = await cluster.rest.get("/connectors/c/topics")
    unknown = await cluster.rest.get("/connectors/nope/topics")
    reset = await cluster.rest.put("/connectors/c/topics/reset")

    assert known.content == b'{"c":{"topics":["t1","t2"]}}'
    assert (unknown.status_code, unknown.content) == (200, b'{"nope":{"topics":[]}}')
    assert (reset.status_code, reset.content) == (202, b"")
    assert cluster.status.resets == ["c"]


@pytest.mark.parametrize(("method", "path"), [SHOW, RESET])
async def test_where_the_status_service_tracks_no_topics_the_request_is_forbidden(
    cluster: World, method: str, path: str
) -> None:
    cluster.status.hides_topics, cluster.status.keeps_topics = (
        TrackingDisabledError(),
        TrackingDisabledError(),
    )

    reply = await cluster.rest.request(method, path)

    assert reply.status_code == 403
    assert reply.content == b'{"error_code":403,"message":"Topic tracking is disabled."}'


async def test_where_the_status_service_keeps_topics_only_the_reset_is_forbidden(cluster: World) -> None:
    cluster.status.keeps_topics = ResetDisabledError()

    shown = await cluster.rest.request(*SHOW)
    reset = await cluster.rest.request(*RESET)

    assert shown.status_code == 200
    assert (reset.status_code, reset.content) == (
        403,
        b'{"error_code":403,"message":"Topic tracking reset is disabled."}',
    )


async def test_strictly_a_reset_of_topics_answers_as_the_kip_says(cluster: World) -> None:
    await cluster.open_gateway(kip_strict="true")
    reset = await cluster.rest.request(*RESET)
    cluster.status.keeps_topics = ResetDisabledError()
    refused = await cluster.rest.request(*RESET)
    cluster.status.keeps_topics = TrackingDisabledError()
    untracked = await cluster.rest.request(*RESET)

    assert (reset.status_code, reset.content) == (200, b"")
    assert refused.content == b'{"error_code":403,"message":"Topic tracking reset is disabled"}'
    assert untracked.content == b'{"error_code":403,"message":"Topic tracking is disabled."}'


async def test_the_gateways_own_properties_do_not_decide_whether_topics_are_tracked(cluster: World) -> None:
    await cluster.open_gateway(topic_tracking_enable="false", topic_tracking_allow_reset="false")
    cluster.status.topics["c"] = ["t"]

    shown = await cluster.rest.request(*SHOW)
    reset = await cluster.rest.request(*RESET)

    assert shown.content == b'{"c":{"topics":["t"]}}'
    assert (reset.status_code, cluster.status.resets) == (202, ["c"])


async def test_a_look_after_a_reset_asks_every_instance_for_the_reset(cluster: World) -> None:
    await cluster.open_gateway(status_addresses=f"{cluster.address},{cluster.address}")
    cluster.status.revision.next[2] = 7

    await cluster.rest.request(*RESET)
    await cluster.rest.request(*SHOW)

    assert dict(cluster.status.asked_for.next) == {2: 7}
