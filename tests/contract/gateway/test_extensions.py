"""REST extensions: filters before everything, resources beside everything, and what they are given."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import httpx2
import pytest
from copycat_connect.errors import ConnectError, DataError
from copycat_connect.plugin import RestAnswer, RestExtensionContext, RestRequest
from copycat_embedded.ports import free_ports

from tests.contract.gateway.guests import Guest, install
from tests.contract.gateway.world import World

NO = RestAnswer(401, "no", "text/plain", {"X-Reason": "night"})
CLASSES = {"rest_extension_classes": "org.example.First"}
PATHS = (
    "/",
    "/health",
    "/connectors",
    "/connectors/a%2Fb/status",
    "/connector-plugins",
    "/admin/loggers",
    "/workers",
    "/openapi",
    "/openapi/openapi.json",
    "/no/such/path",
)


@pytest.fixture
def first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guest:
    """Install `org.example.First`."""
    guest = Guest()
    install(tmp_path, monkeypatch, First=guest)
    return guest


async def test_a_filter_guards_every_path_and_method(bare: World, first: Guest) -> None:
    first.filters(lambda request: NO)
    await bare.open_gateway(**CLASSES)

    for path in PATHS:
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            reply = await bare.rest.request(method, path, content=b"x" * 100_000)
            assert reply.status_code == 401, (method, path)
            assert reply.headers["content-type"] == "text/plain"
            assert reply.headers["x-reason"] == "night"
            assert reply.content == (b"" if method == "HEAD" else b"no")
            assert (first.requests[-1].method, first.requests[-1].path) == (method, path)


async def test_a_filter_guards_listeners_of_admin(bare: World, first: Guest) -> None:
    first.filters(lambda request: NO)
    admin = f"http://127.0.0.1:{free_ports(1)[0]}"
    await bare.open_gateway(**CLASSES, admin_listeners=admin)

    async with httpx2.AsyncClient(base_url=admin) as client:
        for path in ("/admin/loggers", "/no/such"):
            assert (await client.get(path)).status_code == 401


async def test_listeners_of_admin_have_the_resources_of_extensions_too(bare: World, first: Guest) -> None:
    first.registers = lambda context: context.add_resource("GET", "/guests", lambda _: RestAnswer(200, "[]"))
    admin = f"http://127.0.0.1:{free_ports(1)[0]}"
    await bare.open_gateway(**CLASSES, admin_listeners=admin)

    async with httpx2.AsyncClient(base_url=admin) as client:
        answers = [await each.get("/guests") for each in (client, bare.rest)]
        assert [(each.status_code, each.text) for each in answers] == [(200, "[]")] * 2
        assert (await client.get("/connectors")).status_code == 404


async def test_a_filter_sees_the_request_and_may_let_it_pass(bare: World, first: Guest) -> None:
    first.filters(lambda request: None)
    await bare.open_gateway(**CLASSES)

    reply = await bare.rest.get("/connectors//a")
    listed = await bare.rest.get(
        "/connectors/?expand=status", headers=[("X-One", "1"), ("x-one", "2"), ("Authorization", "Basic me")]
    )

    assert reply.status_code == 400, "a path that cannot be read is refused before"
    assert (listed.status_code, listed.content) == (200, b"{}")
    (request,) = first.requests
    assert (request.method, request.path, request.query) == ("GET", "/connectors", "expand=status")
    assert request.headers["x-one"] == "1, 2"
    assert request.headers["authorization"] == "Basic me"
    assert request.body == b""


async def test_one_path_has_one_spelling_for_filters(bare: World, first: Guest) -> None:
    first.filters(lambda request: NO)
    await bare.open_gateway(**CLASSES)

    for path in ("/connectors/a", "/connectors/%61", "/connectors/a/"):
        await bare.rest.get(path)

    assert {request.path for request in first.requests} == {"/connectors/a"}


async def test_extensions_take_their_turn_in_the_order_of_the_list(
    bare: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = Guest(), Guest()
    one.filters(lambda request: None)
    two.filters(lambda request: NO)
    install(tmp_path, monkeypatch, One=one, Two=two)

    await bare.open_gateway(rest_extension_classes="org.example.Two, One")
    assert (await bare.rest.get("/")).status_code == 401
    assert (len(one.requests), len(two.requests)) == (0, 1)

    await bare.open_gateway(rest_extension_classes="One,Two")
    assert (await bare.rest.get("/")).status_code == 401
    assert (len(one.requests), len(two.requests)) == (1, 2)


async def test_a_resource_answers_beside_the_interface(bare: World, first: Guest) -> None:
    def greet(request: RestRequest) -> RestAnswer:
        return RestAnswer(201, f"{request.parameters['name']} {request.query} {request.body.decode()}")

    first.registers = lambda context: context.add_resource("POST", "/guests/{name}/greeting", greet)
    await bare.open_gateway(**CLASSES)

    made = await bare.rest.post("/guests/a%2Fb/greeting?loud=1", content="hello")
    elsewhere = await bare.rest.get("/guests/a/greeting")
    rest = await bare.rest.get("/connectors")

    assert (made.status_code, made.text) == (201, "a/b loud=1 hello")
    assert made.headers["content-type"] == "application/json"
    assert elsewhere.status_code == 404
    assert rest.status_code == 200


async def test_head_of_a_resource_has_no_body(bare: World, first: Guest) -> None:
    first.registers = lambda context: context.add_resource("GET", "/guests", lambda _: RestAnswer(200, "[]"))
    await bare.open_gateway(**CLASSES)

    reply = await bare.rest.head("/guests")

    assert (reply.status_code, reply.headers["content-length"], reply.content) == (200, "2", b"")


async def test_a_body_beyond_the_bound_is_refused(bare: World, first: Guest) -> None:
    first.registers = lambda context: context.add_resource("PUT", "/guests", lambda _: RestAnswer(204))
    await bare.open_gateway(**CLASSES)

    assert (await bare.rest.put("/guests", content=b"x" * (5 * 2**20))).status_code == 204
    assert (await bare.rest.put("/guests", content=b"x" * (5 * 2**20 + 1))).status_code == 413


@pytest.mark.parametrize(
    "raised",
    [
        ConnectError("no luck"),
        DataError("no luck"),
        ValueError("s3cret"),
        StopIteration(),
        SystemExit(3),
        KeyboardInterrupt(),
        TimeoutError(),
    ],
    ids=repr,
)
async def test_whatever_an_extension_raises_is_a_500(
    bare: World, first: Guest, raised: BaseException
) -> None:
    def fail(request: RestRequest) -> RestAnswer:
        raise raised

    def register(context: RestExtensionContext) -> None:
        context.add_filter(lambda request: fail(request) if request.path == "/filtered" else None)
        context.add_resource("GET", "/guests", fail)

    first.registers = register
    await bare.open_gateway(**CLASSES)

    for path in ("/filtered", "/guests"):
        reply = await bare.rest.get(path)
        assert (reply.status_code, reply.json()["error_code"]) == (500, 500)
        assert "s3cret" not in reply.text
        assert isinstance(raised, ConnectError) == (reply.json()["message"] == "no luck")
    assert (await bare.rest.get("/connectors")).status_code == 200


@pytest.mark.parametrize(
    "answer",
    [None, "text", RestAnswer(99), RestAnswer(200, headers={"X-One": "1\r\nX-Two: 2"}), RestAnswer(200, 5)],  # type: ignore[arg-type] # what an author may get wrong
    ids=repr,
)
async def test_what_is_no_answer_is_a_500(bare: World, first: Guest, answer: RestAnswer) -> None:
    first.registers = lambda context: context.add_resource("GET", "/guests", lambda _: answer)
    await bare.open_gateway(**CLASSES)

    reply = await bare.rest.get("/guests")

    assert (reply.status_code, reply.json()["error_code"]) == (500, 500)
    assert "x-two" not in reply.headers


async def test_an_extension_that_hangs_is_not_waited_for(bare: World, first: Guest) -> None:
    let_go = threading.Event()

    def hang(request: RestRequest) -> RestAnswer | None:
        if request.path == "/hang":
            let_go.wait(60)
        return None

    first.filters(hang)
    await bare.open_gateway(**CLASSES, rest_request_timeout_ms="1000")
    hanging, other = await asyncio.gather(bare.rest.get("/hang"), bare.rest.get("/connectors"))
    let_go.set()

    assert other.status_code == 200
    assert hanging.status_code == 500
    assert hanging.json()["message"].startswith("Request timed out")


async def test_a_browser_may_read_refusals_and_ask_what_is_allowed(bare: World, first: Guest) -> None:
    first.filters(lambda request: NO)
    await bare.open_gateway(**CLASSES, access_control_allow_origin="http://page")
    asking = {"Origin": "http://page", "Access-Control-Request-Method": "GET"}

    preflight = await bare.rest.options("/connectors", headers=asking)
    refused = await bare.rest.get("/connectors", headers={"Origin": "http://page"})
    foreign = await bare.rest.get("/connectors", headers={"Origin": "http://other"})

    assert preflight.status_code == 204
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, "http://page")
    assert "access-control-allow-origin" not in foreign.headers


async def test_headers_of_every_response_are_on_those_of_extensions(bare: World, first: Guest) -> None:
    first.filters(lambda request: NO)
    await bare.open_gateway(**CLASSES, response_http_headers_config="add X-Frame-Options:DENY")

    assert (await bare.rest.get("/")).headers["x-frame-options"] == "DENY"
