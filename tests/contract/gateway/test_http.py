"""HTTP itself: paths, methods, media types, sizes, headers, documentation; and listeners with https."""

from __future__ import annotations

import asyncio
import json
import ssl
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from copycat_connect.errors import ConfigError
from copycat_embedded.ports import free_ports
from copycat_gateway.edge.intake import MAX_BODY_BYTES
from copycat_testkit.certificates import Authority

from tests.contract.gateway.world import World, running

NAMES = (
    *("a/b", "a b", "ünïcode-名前-🐈", "100%", "%2F", "a%20b", "a+b"),
    *("a?b#c", "...", ".a", "a;b=c", "status", "[x]", "a\\b"),
)
UNREADABLE = [
    (b"", "The request has no body"),
    (b"{", "The request body is not valid JSON"),
    (b"null", "Cannot deserialize value"),
    (b"[]", "Cannot deserialize value"),
    (b'{"name":"a"}', "Cannot deserialize value of 'config'"),
    (b'{"name":"a","config":{},"color":"red"}', 'Unrecognized field "color"'),
    (b'{"name":"a","config":{"k":{}}}', "Cannot deserialize value of 'k'"),
    (b'{"name":"a","config":{},"initial_state":"ASLEEP"}', "Cannot construct instance"),
    (b'{"name":"a","config":{"k":NaN}}', "The request body is not valid JSON"),
    (b'{"name":"\xff"}', "The request body is not UTF-8 text"),
    (b"[" * 200_000, "The request body is nested too deeply"),
]


async def raw(world: World, request: bytes) -> bytes:
    """Send bytes as they are; clients tidy paths up."""
    url = world.rest.base_url
    reader, writer = await asyncio.open_connection(url.host, url.port)
    writer.write(request)
    reply = await reader.read()
    writer.close()
    return reply


async def get_raw(world: World, path: str) -> bytes:
    return await raw(world, f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())


def path_of(location: str) -> str:
    return location[location.index("/", len("http://")) :]


async def test_any_name_can_be_created_and_found_by_its_location(cluster: World) -> None:
    config = {"connector.class": "FileStreamSource", "topic": "t"}

    for name in NAMES:
        made = await cluster.rest.post("/connectors", json={"name": name, "config": config})
        shown = await get_raw(cluster, path_of(made.headers["location"]) + "/config")
        encoded = await get_raw(cluster, f"/connectors/{quote(name, safe='')}")

        assert name in cluster.config.connectors
        assert json.loads(shown.partition(b"\r\n\r\n")[2])["name"] == name
        assert json.loads(encoded.partition(b"\r\n\r\n")[2])["name"] == name


async def test_unknown_paths_are_not_found(bare: World) -> None:
    for path in ("/nope", "/connectors/a/b/c", "/admin", "/connector-plugins/x"):
        reply = await get_raw(bare, path)
        assert reply.startswith(b"HTTP/1.1 404"), path
        assert reply.endswith(b'{"error_code":404,"message":"HTTP 404 Not Found"}'), path


async def test_a_path_with_an_empty_segment_is_refused(bare: World) -> None:
    reply = await get_raw(bare, "/connectors//status")

    assert reply.startswith(b"HTTP/1.1 400")
    assert reply.endswith(b'{"error_code":400,"message":"Ambiguous URI empty segment"}')


async def test_a_trailing_slash_changes_nothing(bare: World) -> None:
    assert (await bare.rest.get("/connectors/")).content == b"[]"


async def test_a_path_that_is_no_text_is_refused(bare: World) -> None:
    reply = await get_raw(bare, "/connectors/%FF")

    assert reply.startswith(b"HTTP/1.1 400")
    assert reply.endswith(b'{"error_code":400,"message":"The path is not UTF-8 text in percent-encoding"}')


async def test_wrong_methods_say_which_are_allowed(bare: World) -> None:
    for method, path in (
        ("DELETE", "/connectors"),
        ("POST", "/"),
        ("PUT", "/connectors/c/offsets"),
        ("GET", "/connectors/c/pause"),
    ):
        reply = await bare.rest.request(method, path)
        assert reply.content == b'{"error_code":405,"message":"HTTP 405 Method Not Allowed"}', path
        assert reply.headers["allow"], path


async def test_head_is_get_without_a_body(bare: World) -> None:
    reply = await bare.rest.head("/connectors")

    assert (reply.status_code, reply.content) == (200, b"")
    assert reply.headers["content-length"] == "2"


async def test_only_json_bodies_are_read(bare: World) -> None:
    bare.config.has("c")
    for headers in (
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {},
    ):
        reply = await bare.rest.post("/connectors", content=b"{}", headers=headers)
        assert reply.content == b'{"error_code":415,"message":"HTTP 415 Unsupported Media Type"}', headers

    bodiless = await bare.rest.put("/connectors/c/pause")
    wrong = await bare.rest.put("/connectors/c/pause", headers={"content-type": "text/plain"})

    assert bodiless.status_code == 202
    assert wrong.status_code == 415


async def test_only_callers_that_take_json_are_served(bare: World) -> None:
    for accept, status in (
        ("text/html", 406),
        ("application/json;q=0", 406),
        ("text/html, */*;q=0.1", 200),
        ("application/*", 200),
        ("application/json", 200),
    ):
        reply = await bare.rest.get("/connectors", headers={"accept": accept})
        assert reply.status_code == status, accept


async def test_a_body_that_cannot_be_read_is_a_server_error_as_in_connect(bare: World) -> None:
    for body, start in UNREADABLE:
        reply = await bare.rest.post(
            "/connectors", content=body, headers={"content-type": "application/json"}
        )

        assert reply.status_code == 500, body[:80]
        assert reply.json()["message"].startswith(start), body[:80]


async def test_a_large_configuration_passes_and_a_larger_one_is_refused(cluster: World) -> None:
    frame = len(
        json.dumps({"connector.class": "FileStreamSource", "topic": "t", "k": ""}, separators=(",", ":"))
    )
    for size, status in ((MAX_BODY_BYTES, 201), (MAX_BODY_BYTES + 1, 413), (3 * MAX_BODY_BYTES, 413)):
        body = {"connector.class": "FileStreamSource", "topic": "t", "k": "x" * (size - frame)}
        content = json.dumps(body, separators=(",", ":")).encode()
        assert len(content) == size

        reply = await cluster.rest.put(
            f"/connectors/c{size}/config", content=content, headers={"content-type": "application/json"}
        )

        assert reply.status_code == status
    assert reply.json() == {
        "error_code": 413,
        "message": f"The request body is too large: at most {MAX_BODY_BYTES} bytes are accepted",
    }


async def test_text_that_utf8_cannot_hold_becomes_a_question_mark(cluster: World) -> None:
    reply = await cluster.rest.put(
        "/connectors/c/config",
        content=b'{"connector.class":"FileStreamSource","topic":"\\ud800"}',
        headers={"content-type": "application/json"},
    )

    assert reply.json()["config"]["topic"] == "?"


async def test_cross_site_requests_are_answered_only_where_allowed(bare: World) -> None:
    origin = {"origin": "http://ui.example"}
    assert "access-control-allow-origin" not in (await bare.rest.get("/connectors", headers=origin)).headers

    await bare.open_gateway(
        access_control_allow_origin="http://ui.example", access_control_allow_methods="GET,PUT"
    )
    simple = await bare.rest.get("/connectors", headers=origin)
    preflight = await bare.rest.options(
        "/connectors/c/pause", headers={**origin, "access-control-request-method": "PUT"}
    )

    assert simple.headers["access-control-allow-origin"] == "http://ui.example"
    assert "PUT" in preflight.headers["access-control-allow-methods"]


async def test_every_response_carries_the_operators_headers(bare: World) -> None:
    await bare.open_gateway(
        response_http_headers_config="set X-Frame-Options: DENY,"
        ' "add Cache-Control: no-cache, no-store", addDate Expires: 0'
    )

    for path in ("/connectors", "/nope"):
        reply = await bare.rest.get(path)
        assert reply.headers["x-frame-options"] == "DENY"
        assert reply.headers["cache-control"] == "no-cache, no-store"
        assert reply.headers["expires"].endswith("GMT")


async def test_the_interface_describes_itself(bare: World) -> None:
    page = await bare.rest.get("/openapi", headers={"accept": "text/html"})
    document = (await bare.rest.get("/openapi/openapi.json")).json()

    assert page.headers["content-type"].startswith("text/html")
    assert b"/connectors/{name}/restart" in page.content
    assert b"http" not in page.content.replace(b"openapi", b"")
    assert document["paths"]["/connectors"]["post"]["requestBody"]["required"]
    assert {"201", "400", "409"} < document["paths"]["/connectors"]["post"]["responses"].keys()


async def test_an_occupied_port_names_the_setting(bare: World) -> None:
    taken = f"http://{bare.rest.base_url.host}:{bare.rest.base_url.port}"

    with pytest.raises(ConfigError, match=f"Cannot listen on {taken} .*listeners"):
        async with running({"listeners": taken}):
            pass


async def test_several_listeners_serve_the_same(bare: World) -> None:
    await bare.open_gateway(listeners="http://127.0.0.1:0,http://localhost:0")

    assert (await bare.rest.get("/connectors")).status_code == 200


async def test_a_stop_lets_a_request_under_way_finish(bare: World) -> None:
    settings = {
        "listeners": "http://127.0.0.1:0",
        "scheduler.addresses": bare.address,
        "rest.worker.wait.ms": "500",
    }
    async with httpx2.AsyncClient(verify=False) as client:
        async with running(settings) as bound:
            request = asyncio.create_task(client.get(f"http://{bound}/connector-plugins"))
            await bare.scheduler.asked.wait()
        reply = await request

    assert reply.status_code == 503


async def test_options_name_every_method_of_a_path(bare: World) -> None:
    reply = await bare.rest.options("/connectors/c/offsets")

    assert (reply.status_code, reply.text) == (200, "DELETE, GET, HEAD, OPTIONS, PATCH")
    assert reply.headers["content-type"].startswith("text/plain")
    assert reply.headers["allow"] == reply.text


async def test_an_answer_without_a_body_has_no_type(bare: World) -> None:
    reply = await bare.rest.put("/connectors/c/topics/reset")

    assert "content-type" not in reply.headers
    assert reply.headers["content-length"] == "0"


async def test_the_calls_of_kafkas_own_workers_are_refused(bare: World) -> None:
    signed = {"X-Connect-Authorization": "c2ln", "X-Connect-Request-Signature-Algorithm": "HmacSHA256"}
    for method, path in (("POST", "/connectors/c/tasks"), ("PUT", "/connectors/c/fence")):
        unsigned = await bare.rest.request(method, path)
        forged = await bare.rest.request(method, path, headers=signed)

        assert (
            unsigned.content == b'{"error_code":400,"message":"Internal request missing required signature"}'
        )
        assert (
            forged.content == b'{"error_code":403,"message":"Internal request contained invalid signature."}'
        )


KEYS = "listeners.https.ssl."


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def shown(authority: Authority, prefix: str = KEYS) -> dict[str, str]:
    """Return the keys of a listener's certificate."""
    return {f"{prefix}keystore.type": "PEM", f"{prefix}keystore.location": str(authority.pem("server"))}


def trusting(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=authority.file)


async def status(url: str, tls: ssl.SSLContext) -> int:
    async with httpx2.AsyncClient(verify=tls, timeout=30) as client:
        return (await client.get(url)).status_code


async def test_http_and_https_serve_side_by_side(bare: World, authority: Authority) -> None:
    plain, secure = free_ports(2)
    listeners = f"https://127.0.0.1:{secure},http://127.0.0.1:{plain}"
    await bare.open_gateway(listeners=listeners, **shown(authority))

    assert bare.rest.base_url.port == plain
    assert await status(f"http://127.0.0.1:{plain}/connectors", trusting(authority)) == 200
    assert await status(f"https://127.0.0.1:{secure}/connectors", trusting(authority)) == 200


async def test_a_location_leads_back_over_https(cluster: World, authority: Authority) -> None:
    async with (
        running({**cluster.settings, "listeners": "https://127.0.0.1:0", **shown(authority)}) as bound,
        httpx2.AsyncClient(verify=trusting(authority), base_url=f"https://{bound}") as client,
    ):
        body = {"name": "c", "config": {"connector.class": "FileStreamSource", "topic": "t"}}
        made = await client.post("/connectors", json=body)

    assert (made.status_code, made.headers["location"]) == (201, f"https://{bound}/connectors/c")


@pytest.mark.parametrize(
    ("asked", "certificate", "let_in"),
    [
        ("none", "", True),
        ("requested", "", True),
        ("requested", "known", True),
        ("required", "", False),
        ("required", "known", True),
        ("required", "unknown", False),
    ],
)
async def test_clients_are_let_in_as_asked(
    bare: World, authority: Authority, asked: str, certificate: str, let_in: bool
) -> None:
    keys = {f"{KEYS}client.auth": asked, f"{KEYS}truststore.type": "PEM"}
    keys[f"{KEYS}truststore.location"] = str(authority.file)
    tls = trusting(authority)
    if certificate:
        signer = authority if certificate == "known" else Authority(authority.file.parent, "stranger")
        tls.load_cert_chain(signer.pem("client"))
    settings = {**bare.settings, "listeners": "https://127.0.0.1:0", **shown(authority), **keys}
    async with running(settings) as bound:
        if let_in:
            assert await status(f"https://{bound}/", tls) == 200
        else:
            with pytest.raises(httpx2.TransportError):
                await status(f"https://{bound}/", tls)


async def test_only_the_enabled_protocols_are_spoken(bare: World, authority: Authority) -> None:
    newer = {**bare.settings, "listeners": "https://127.0.0.1:0", **shown(authority)}
    newer[f"{KEYS}enabled.protocols"] = "TLSv1.3"
    old = trusting(authority)
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    async with running(newer) as bound:
        assert await status(f"https://{bound}/", trusting(authority)) == 200
        with pytest.raises(httpx2.TransportError):
            await status(f"https://{bound}/", old)


async def test_admin_has_a_certificate_of_its_own(bare: World, authority: Authority, tmp_path: Path) -> None:
    other = Authority(tmp_path, "other")
    admin = free_ports(1)[0]
    keys = {"admin.listeners": f"https://127.0.0.1:{admin}", **shown(other, f"admin.{KEYS}")}
    async with running({**bare.settings, "listeners": "http://127.0.0.1:0", **keys}):
        assert await status(f"https://127.0.0.1:{admin}/admin/loggers", trusting(other)) == 200


async def test_without_a_certificate_it_does_not_start(bare: World) -> None:
    with pytest.raises(ConfigError, match=r"ssl\.keystore\.location is not set"):
        async with running({**bare.settings, "listeners": "https://127.0.0.1:0"}):
            pass
