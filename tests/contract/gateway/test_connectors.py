"""/connectors and /connectors/{name}/config: golden answers of list, create, show, put, patch, delete."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

import pytest
from copycat.types.v1 import types_pb2
from copycat_connect.errors import OutcomeUnknownError

from tests.contract.gateway.fake_executor import FakeExecutor
from tests.contract.gateway.world import World

CONFIG = {"connector.class": "FileStreamSource", "topic": "t"}
ORDERS = (
    b'{"name":"orders","config":{"connector.class":"FileStreamSource","topic":"t","name":"orders"},'
    b'"tasks":[],"type":"source"}'
)


async def test_no_connectors_are_an_empty_list(cluster: World) -> None:
    reply = await cluster.rest.get("/connectors")

    assert (reply.status_code, reply.content) == (200, b"[]")
    assert reply.headers["content-type"] == "application/json"


async def test_a_created_connector_is_answered_located_and_listed(cluster: World) -> None:
    made = await cluster.rest.post("/connectors", json={"name": "orders", "config": CONFIG})
    listed = await cluster.rest.get("/connectors")

    assert (made.status_code, made.content) == (201, ORDERS)
    assert made.headers["location"] == f"{cluster.rest.base_url}/connectors/orders"
    assert listed.content == b'["orders"]'


async def test_a_connector_shows_config_tasks_and_type(cluster: World) -> None:
    cluster.config.has("c", {"topic": "t", "odd": None}, tasks=({"file": "a"}, {"file": "b"}))

    reply = await cluster.rest.get("/connectors/c")

    assert reply.content == (
        b'{"name":"c","config":{"connector.class":"FileStreamSource","name":"c","topic":"t","odd":null},'
        b'"tasks":[{"connector":"c","task":0},{"connector":"c","task":1}],"type":"source"}'
    )


async def test_a_class_no_worker_has_makes_the_type_unknown(cluster: World) -> None:
    cluster.config.has("c", {"connector.class": "Nobody"})

    assert (await cluster.rest.get("/connectors/c")).json()["type"] == "unknown"


async def test_reads_do_not_wait_for_a_worker(bare: World) -> None:
    bare.config.has("c")

    assert (await bare.rest.get("/connectors/c")).json()["type"] == "unknown"


async def test_an_unknown_connector_is_not_found(cluster: World) -> None:
    for method, path in (
        ("GET", ""), ("DELETE", ""), ("GET", "/config"), ("PATCH", "/config"), ("GET", "/tasks"),
        ("GET", "/tasks-config"), ("GET", "/offsets"), ("DELETE", "/offsets"),
    ):  # fmt: skip
        body = {"json": {"a": "b"}} if method == "PATCH" else {}
        reply = await cluster.rest.request(method, f"/connectors/nope{path}", **body)  # type: ignore[arg-type]

        assert reply.content == b'{"error_code":404,"message":"Connector nope not found"}', (method, path)
        assert reply.status_code == 404


async def test_creating_an_existing_connector_conflicts(cluster: World) -> None:
    cluster.config.has("orders")

    reply = await cluster.rest.post("/connectors", json={"name": "orders", "config": CONFIG})

    assert (reply.status_code, reply.json()["message"]) == (409, "Connector orders already exists")


async def test_an_invalid_configuration_lists_its_errors(cluster: World) -> None:
    reply = await cluster.rest.post(
        "/connectors", json={"name": "orders", "config": {"connector.class": "FileStreamSource"}}
    )

    assert reply.status_code == 400
    assert reply.json()["message"] == (
        "Connector configuration is invalid and contains the following 1 error(s):\n"
        'Missing required configuration "topic" which has no default value.\n'
        "You can also find the above list of errors at the endpoint"
        " `/connector-plugins/{connectorType}/config/validate`"
    )
    assert cluster.config.connectors == {}


async def test_a_configuration_of_another_name_is_refused(cluster: World) -> None:
    reply = await cluster.rest.post("/connectors", json={"name": "a", "config": {**CONFIG, "name": "b"}})

    assert reply.status_code == 400
    assert reply.json()["message"] == (
        "Connector name configuration (b) doesn't match connector name in the URL (a)"
    )


async def test_a_configuration_without_class_is_refused(cluster: World) -> None:
    reply = await cluster.rest.post("/connectors", json={"name": "a", "config": {"k": "v"}})

    assert reply.status_code == 400
    assert reply.json()["message"] == "Connector config contains no connector type"


async def test_a_class_no_worker_has_is_refused(cluster: World) -> None:
    reply = await cluster.rest.post("/connectors", json={"name": "a", "config": {"connector.class": "X"}})

    assert reply.status_code == 400
    assert reply.json()["message"].startswith(
        "Failed to find any class that implements Connector and which name matches X, available connectors"
    )


async def test_the_name_is_trimmed_and_scalars_become_text(cluster: World) -> None:
    reply = await cluster.rest.post(
        "/connectors",
        content=b'{"name":" orders ","config":{"connector.class":"FileStreamSource","topic":"t",'
        b'"n":1.50,"b":true}}',
        headers={"content-type": "application/json; charset=utf-8"},
    )

    assert reply.status_code == 201
    assert reply.json()["config"] == {**CONFIG, "n": "1.50", "b": "true", "name": "orders"}


async def test_the_initial_state_is_written_with_the_connector(cluster: World) -> None:
    for given, stored in (
        (None, types_pb2.TARGET_STATE_UNSPECIFIED),
        ("running", types_pb2.TARGET_STATE_UNSPECIFIED),
        ("Paused", types_pb2.TARGET_STATE_PAUSED),
        ("STOPPED", types_pb2.TARGET_STATE_STOPPED),
    ):
        name = f"c-{given}"
        reply = await cluster.rest.post(
            "/connectors", json={"name": name, "config": CONFIG, "initial_state": given}
        )

        assert reply.status_code == 201
        assert cluster.config.initial_states[name] == stored


async def test_expand_shows_only_the_parts_asked_for(cluster: World) -> None:
    cluster.config.has("a")
    cluster.config.has("b")
    cluster.status.says("a", "RUNNING")
    status = (
        b'{"name":"a","connector":{"state":"RUNNING","worker_id":"h1:8083","generation":0},"tasks":[],'
        b'"type":"source"}'
    )
    info = (
        b'{"name":"a","config":{"connector.class":"FileStreamSource","name":"a"},"tasks":[],"type":"source"}'
    )

    both = await cluster.rest.get("/connectors?expand=info&expand=status")
    one = await cluster.rest.get("/connectors?expand=status")
    unknown = await cluster.rest.get("/connectors?expand=nonsense")
    empty = await cluster.rest.get("/connectors?expand=")

    assert both.content == b'{"a":{"status":' + status + b',"info":' + info + b"}}"
    assert one.content == b'{"a":{"status":' + status + b"}}"
    assert unknown.content == b'{"a":{},"b":{}}'
    assert empty.content == b'{"a":{},"b":{}}'


async def test_a_deleted_connector_is_gone(cluster: World) -> None:
    cluster.config.has("c")

    reply = await cluster.rest.delete("/connectors/c")

    assert (reply.status_code, reply.content) == (204, b"")
    assert (await cluster.rest.delete("/connectors/c")).status_code == 404


async def test_validation_asks_the_next_worker_when_one_is_gone(bare: World) -> None:
    for _ in range(3):
        await bare.add_worker()
    for worker_id in list(bare.scheduler.workers)[:2]:
        await bare.kill_worker(worker_id)

    for name in ("a", "b", "c"):
        reply = await bare.rest.post("/connectors", json={"name": name, "config": CONFIG})
        assert reply.status_code == 201


async def test_without_any_worker_a_create_fails_clearly(bare: World) -> None:
    reply = await bare.rest.post("/connectors", json={"name": "a", "config": CONFIG})

    assert reply.status_code == 503
    assert reply.json()["message"].startswith("No worker answered: there is no live executor")


async def test_a_request_that_takes_too_long_says_what_it_was_doing(
    bare: World, worker: tuple[str, FakeExecutor]
) -> None:
    worker[1].hangs = True
    await bare.open_gateway(rest_request_timeout_ms="500")

    reply = await bare.rest.post("/connectors", json={"name": "a", "config": CONFIG})

    assert reply.status_code == 500
    assert reply.json()["message"].startswith(
        "Request timed out. The worker is currently validating the configuration of the connector, which"
    )


@pytest.mark.parametrize("name", ["", ".", ".."])
async def test_a_connector_that_no_path_can_name_is_deleted_by_a_parameter(bare: World, name: str) -> None:
    bare.config.has(name)
    bare.config.has("c")

    unknown = await bare.rest.delete("/connectors", params={"name": "other"})
    deleted = await bare.rest.delete("/connectors", params={"name": name})

    assert (unknown.status_code, unknown.json()["message"]) == (404, "Connector other not found")
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert bare.config.connectors.keys() == {"c"}


@pytest.mark.parametrize("name", ["a\0b", "\0", "a\nb", "...", "\x7f"])
async def test_a_connector_that_nobody_could_have_created_here_is_shown_and_deleted(
    bare: World, name: str
) -> None:
    bare.config.has(name)
    path = f"/connectors/{quote(name, safe='')}"

    assert (await bare.rest.get(f"{path}/config")).json()["name"] == name
    assert (await bare.rest.delete(path)).status_code == 204
    assert not bare.config.connectors


async def test_a_request_to_delete_all_is_none(bare: World) -> None:
    bare.config.has("c")
    reply = await bare.rest.delete("/connectors")
    allowed = await bare.rest.options("/connectors")

    assert reply.content == b'{"error_code":405,"message":"HTTP 405 Method Not Allowed"}'
    assert reply.headers["allow"] == allowed.headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert "c" in bare.config.connectors


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
