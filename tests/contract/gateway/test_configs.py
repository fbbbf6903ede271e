"""/connectors/{name}/config: golden answers of show, put, patch."""

from __future__ import annotations

import asyncio

import pytest
from copycat_connect.errors import OutcomeUnknownError

from tests.contract.gateway.world import World

CONFIG = {"connector.class": "FileStreamSource", "topic": "t"}


async def test_the_raw_configuration_is_shown(cluster: World) -> None:
    cluster.config.has("c", {"password": "${file:/secret:key}"})

    reply = await cluster.rest.get("/connectors/c/config")

    assert reply.content == (
        b'{"connector.class":"FileStreamSource","name":"c","password":"${file:/secret:key}"}'
    )


async def test_put_creates_a_connector_that_is_new(cluster: World) -> None:
    reply = await cluster.rest.put("/connectors/c/config", json=CONFIG)

    assert reply.status_code == 201
    assert reply.headers["location"] == f"{cluster.rest.base_url}/connectors/c"
    assert reply.json() == {"name": "c", "config": {**CONFIG, "name": "c"}, "tasks": [], "type": "source"}


async def test_put_replaces_the_configuration_of_one_that_exists(cluster: World) -> None:
    cluster.config.has("c", {"old": "1"}, tasks=({"file": "a"},))

    reply = await cluster.rest.put("/connectors/c/config", json={**CONFIG, "name": "c"})

    assert reply.status_code == 200
    assert "location" not in reply.headers
    assert reply.json() == {
        "name": "c",
        "config": {**CONFIG, "name": "c"},
        "tasks": [{"connector": "c", "task": 0}],
        "type": "source",
    }


async def test_put_refuses_a_configuration_of_another_name(cluster: World) -> None:
    reply = await cluster.rest.put("/connectors/c/config", json={**CONFIG, "name": "d"})

    assert (reply.status_code, reply.json()["message"]) == (
        400,
        "Connector name configuration (d) doesn't match connector name in the URL (c)",
    )


async def test_patch_changes_adds_and_removes_keys(cluster: World) -> None:
    cluster.config.has("c", {"topic": "t", "tasks.max": "2", "gone": "x"})

    reply = await cluster.rest.patch(
        "/connectors/c/config", json={"tasks.max": 3, "added": "y", "gone": None, "never.there": None}
    )

    assert reply.status_code == 200
    assert reply.json()["config"] == {
        "connector.class": "FileStreamSource",
        "name": "c",
        "topic": "t",
        "tasks.max": "3",
        "added": "y",
    }


async def test_of_many_patches_at_once_all_stay(cluster: World) -> None:
    cluster.config.has("c", {"topic": "t"})

    replies = await asyncio.gather(
        *(cluster.rest.patch("/connectors/c/config", json={f"k{number}": "v"}) for number in range(40))
    )

    assert {reply.status_code for reply in replies} == {200}
    stored = (await cluster.rest.get("/connectors/c/config")).json()
    assert {f"k{number}" for number in range(40)} <= stored.keys()


async def test_a_patch_keeps_what_another_gateway_wrote_meanwhile(cluster: World) -> None:
    cluster.config.has("c", {"topic": "t"})
    cluster.config.between = lambda: cluster.config.has("c", {"topic": "t", "theirs": "1"})

    reply = await cluster.rest.patch("/connectors/c/config", json={"ours": "2"})

    config = reply.json()["config"]
    assert (reply.status_code, config["theirs"], config["ours"]) == (200, "1", "2")


async def test_patch_validates_the_result(cluster: World) -> None:
    cluster.config.has("c", {"topic": "t"})

    reply = await cluster.rest.patch("/connectors/c/config", json={"topic": None})

    assert reply.status_code == 400
    assert "contains the following 1 error(s)" in reply.json()["message"]


async def test_patch_cannot_rename(cluster: World) -> None:
    cluster.config.has("c", {"topic": "t"})

    reply = await cluster.rest.patch("/connectors/c/config", json={"name": "d"})

    assert reply.status_code == 400
    assert "doesn't match connector name in the URL (c)" in reply.json()["message"]


@pytest.mark.parametrize("method", ["put", "delete"])
async def test_a_write_with_an_unknown_outcome_may_be_repeated(cluster: World, method: str) -> None:
    cluster.config.has("c")
    cluster.config.fails = OutcomeUnknownError("the append timed out")

    if method == "put":
        reply = await cluster.rest.put("/connectors/c/config", json=CONFIG)
    else:
        reply = await cluster.rest.delete("/connectors/c")

    assert (reply.status_code, reply.json()["message"]) == (
        500,
        "Failed to write to config topic; this may be due to a transient error and the request can be safely"
        " retried",
    )


async def test_an_unexpected_error_of_a_service_shows_no_stack(cluster: World) -> None:
    cluster.config.has("c")
    cluster.config.fails = ZeroDivisionError("secret detail")

    reply = await cluster.rest.put("/connectors/c/config", json=CONFIG)

    assert reply.status_code == 500
    assert reply.json() == {
        "error_code": 500,
        "message": "Internal error (ZeroDivisionError); the service's log has the trace",
    }
