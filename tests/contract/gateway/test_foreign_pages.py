"""Web pages of others move nothing and read nothing; programs and our own pages notice nothing."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from copycat_connect.errors import ConfigError
from copycat_embedded.ports import free_ports
from copycat_gateway.access.foreign_pages import ForeignPages, trusted
from copycat_gateway.settings import read_settings
from copycat_rest.listeners import parse_listener

from tests.contract.gateway.test_audit import lines
from tests.contract.gateway.world import World, world

CONFIG = {"connector.class": "FileStreamSource", "topic": "t"}
#: What a page may send: each of them changes something, or shows it.
ASKED = (
    ("POST", "/connectors", {"name": "d", "config": CONFIG}),
    ("PUT", "/connectors/d/config", CONFIG),
    ("DELETE", "/connectors/c", None),
    ("PUT", "/connectors/c/pause", None),
    ("POST", "/connectors/c/restart", None),
    ("PATCH", "/connectors/c/config", {"topic": "u"}),
    ("PUT", "/admin/loggers/root", {"level": "DEBUG"}),
    ("GET", "/connectors", None),
    ("GET", "/metrics", None),
    ("GET", "/health", None),
    ("GET", "/openapi", None),
    ("OPTIONS", "/connectors", None),
    ("GET", "/nothing/is/here", None),
)
FOREIGN: dict[str, dict[str, str]] = {
    "another site": {"origin": "http://evil.example"},
    "a page of no site": {"origin": "null"},
    "another port of this machine": {"origin": "http://127.0.0.1:1"},
    "an extension of the browser": {"origin": "chrome-extension://abcdefgh"},
    "another site without its name": {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    "a neighbour without its name": {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
    "a name that leads here": {"host": "evil.example"},
    "such a name with a port": {"host": "Evil.Example.:8083"},
    "such a name, as its own page": {
        "host": "evil.example:8083",
        "origin": "http://evil.example:8083",
        "sec-fetch-site": "same-origin",
    },
    "a name that begins as ours": {"host": "localhost.evil.example"},
    "an address as part of a name": {"host": "127.0.0.1.evil.example"},
    "no name at all": {"host": "evil.example/@localhost"},
}


@pytest.mark.parametrize("page", FOREIGN.values(), ids=FOREIGN)
async def test_nothing_is_done_or_shown_for_the_page_of_another_site(
    cluster: World, page: dict[str, str]
) -> None:
    cluster.config.has("c")

    for method, path, body in ASKED:
        reply = await cluster.rest.request(method, path, json=body, headers=page)

        assert reply.status_code == 403, (method, path)
        assert reply.json()["error_code"] == 403
        assert "rest.origins" in reply.json()["message"]
        assert "access-control-allow-origin" not in reply.headers
    assert cluster.config.connectors.keys() == {"c"}


async def test_the_listeners_of_admin_refuse_pages_of_others_too() -> None:
    port = free_ports(1)[0]
    async with world(admin_listeners=f"http://127.0.0.1:{port}") as made:
        for page in FOREIGN.values():
            reply = await made.rest.get(f"http://127.0.0.1:{port}/admin/loggers", headers=page)
            assert reply.status_code == 403, page


@pytest.mark.parametrize(
    "host",
    [
        *("localhost:8083", "app.localhost", "[::1]:8083", "127.0.0.1", "10.1.2.3:8083", "192.168.0.1"),
        *("gateway:8083", "copycat-gateway.data.svc", "copycat-gateway.data.svc.cluster.local:8083"),
        *("worker-1.internal", "nas.local", "localhost.", socket.gethostname()),
    ],
)
async def test_names_that_no_stranger_can_own_are_ours(bare: World, host: str) -> None:
    reply = await bare.rest.get("/connectors", headers={"host": host, "accept-language": "en"})

    assert reply.status_code == 200


async def test_our_own_pages_and_links_that_people_follow_go_on(bare: World) -> None:
    bare.config.has("c")
    url = bare.rest.base_url
    own = {"origin": f"http://{url.host}:{url.port}", "sec-fetch-site": "same-origin"}
    twin = {"origin": f"http://localhost:{url.port}", "sec-fetch-site": "cross-site"}
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    typed = {"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}

    for page in (own, twin):
        assert (await bare.rest.put("/connectors/c/pause", headers=page)).status_code == 202
    for followed in (link, typed):
        assert (await bare.rest.get("/connectors", headers=followed)).status_code == 200
        assert (await bare.rest.head("/connectors", headers=followed)).status_code == 200
    form = await bare.rest.post("/connectors/c/restart", headers=link)
    assert form.status_code == 403


async def test_pages_that_the_operator_names_are_trusted(bare: World) -> None:
    bare.config.has("c")
    await bare.open_gateway(
        rest_origins="https://connect.example, http://ui.example:3000",
        access_control_allow_origin="http://shown.example",
        rest_advertised_host_name="told.example",
    )
    advertised = read_settings({"rest.advertised.host.name": "told.example"}).trusted_pages.sites[0]

    trusted_pages: list[dict[str, str]] = [
        {"origin": "https://connect.example", "host": "connect.example"},
        {"origin": "https://connect.example"},
        {"host": "connect.example"},
        {"host": "ui.example:8083"},
        {"origin": "http://ui.example:3000"},
        {"origin": "http://shown.example"},
        {"host": "told.example"},
        {"host": "told.example:8083", "origin": "http://told.example:8083"},
    ]
    for page in trusted_pages:
        assert (await bare.rest.put("/connectors/c/pause", headers=page)).status_code == 202, page
    for page in ({"origin": "http://ui.example"}, {"origin": "http://connect.example"}):
        assert (await bare.rest.put("/connectors/c/pause", headers=page)).status_code == 403, page
    assert (advertised.host, advertised.port) == ("told.example", 8083)


async def test_a_star_trusts_every_page_and_every_name(bare: World) -> None:
    bare.config.has("c")
    await bare.open_gateway(rest_origins="*")

    for what, page in FOREIGN.items():
        if what != "no name at all":
            assert (await bare.rest.put("/connectors/c/pause", headers=page)).status_code == 202, page


async def test_pages_that_may_read_by_cors_alone_come_under_our_names_all_the_same(bare: World) -> None:
    await bare.open_gateway(access_control_allow_origin="*")

    assert (await bare.rest.get("/connectors", headers={"origin": "http://ui.example"})).status_code == 200
    assert (await bare.rest.get("/connectors", headers={"host": "evil.example"})).status_code == 403
    itself = {"host": "evil.example:8083", "origin": "http://evil.example:8083"}
    assert (await bare.rest.get("/connectors", headers=itself)).status_code == 403


async def test_a_page_that_is_named_may_call_by_a_name_that_only_it_knows(bare: World) -> None:
    """Whose page it is says its browser: nobody else's can be led here under that name."""
    bare.config.has("c")
    await bare.open_gateway(
        rest_origins="http://ui.example:3000", access_control_allow_origin="http://shown.example"
    )

    for origin in ("http://ui.example:3000", "http://shown.example"):
        page = {"origin": origin, "host": "connect.example:8083", "sec-fetch-site": "cross-site"}
        assert (await bare.rest.put("/connectors/c/pause", headers=page)).status_code == 202, origin
    foreign = {"origin": "http://connect.example:8083", "host": "connect.example:8083"}
    assert (await bare.rest.put("/connectors/c/pause", headers=foreign)).status_code == 403


async def asked(headers: Mapping[str, str], server: tuple[str, int], *listeners: str) -> int:
    """Return the status that a request on a connection to that address gets; 200 is the application's own."""
    statuses: list[int] = []

    async def application(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope: Any = {
        "type": "http",
        "method": "DELETE",
        "server": server,
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    receive: Any = None
    known = [parse_listener("listeners", text) for text in listeners or ("http://0.0.0.0:8083",)]
    trust = trusted((), "http://worker-1:8083", known)
    door = ForeignPages(application, trust, None, full_name=lambda: "Worker-1.example")
    await door(scope, receive, send)
    return statuses[0]


async def test_programs_reach_a_listener_of_the_network_by_whatever_name_leads_to_it() -> None:
    there, here = ("10.0.0.7", 8083), ("127.0.0.1", 8083)
    program = {"host": "connect.example", "user-agent": "Java/17", "accept": "*/*", "accept-encoding": "gzip"}

    assert await asked(program, there) == 200
    assert await asked(program, here) == 403
    assert await asked(program, ("::ffff:127.0.0.1", 8083)) == 403
    node = {**program, "user-agent": "node", "accept-language": "*", "sec-fetch-mode": "cors"}
    windows = {**program, "user-agent": "Mozilla/5.0 (Windows NT 10.0; en-US) WindowsPowerShell/5.1.19041"}
    assert await asked(node, there) == 200, "a page can neither set nor take away what begins with Sec-"
    assert await asked({**node, "sec-fetch-site": "same-origin"}, there) == 403
    assert await asked(windows, there) == 200
    assert await asked({**windows, "accept-language": "de"}, there) == 403, "a page may call itself so"
    assert await asked({}, here) == 200, "HTTP/1.0 knows no Host, and no browser speaks it"
    for mark in (
        {"accept-language": "de"},
        {"user-agent": "Mozilla/5.0 (X11)"},
        {"cookie": "a=b"},
        {"referer": "http://connect.example/"},
        {"sec-fetch-site": "same-origin"},
        {"origin": "http://connect.example"},
    ):
        assert await asked({**program, **mark}, there) == 403, mark


async def test_where_tls_is_spoken_the_certificate_proves_the_name() -> None:
    browser = {"host": "connect.example:8443", "accept-language": "de"}
    page = {**browser, "origin": "https://connect.example:8443"}
    https = "https://0.0.0.0:8443"

    for address in ("10.0.0.7", "127.0.0.1"):
        assert await asked(browser, (address, 8443), https) == 200
        assert await asked(page, (address, 8443), https) == 200
        assert await asked({**page, "origin": "https://evil.example"}, (address, 8443), https) == 403
        assert await asked({**browser, "x-forwarded-proto": "https"}, (address, 8083)) == 403


async def test_this_machines_name_in_the_dns_is_ours() -> None:
    assert await asked({"host": "worker-1.example:8083"}, ("127.0.0.1", 8083)) == 200
    assert await asked({"host": "worker-2.example:8083"}, ("127.0.0.1", 8083)) == 403


@pytest.mark.parametrize("text", ["connect.example", "ftp://x", "http://a/b", "http://", "http://a:b"])
def test_an_origin_that_is_none_is_named_at_the_start(text: str) -> None:
    with pytest.raises(ConfigError, match=r"rest\.origins has .* write http://host:port"):
        read_settings({"rest.origins": text})


async def test_a_refused_page_is_a_line_of_the_audit(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    async with world(access_audit_file=str(file)) as made:
        await made.rest.delete("/connectors/c", headers={"origin": "http://evil.example"})

    (line,) = lines(file)
    assert (line["outcome"], line["status"], line["path"]) == ("denied", 403, "/connectors/c")
    assert "'http://evil.example'" in line["why"]


@pytest.mark.parametrize("first", ["Content-Length: 5", "Transfer-Encoding: chunked"])
async def test_a_body_of_two_lengths_is_refused_and_its_connection_closed(cluster: World, first: str) -> None:
    both = ["Content-Length: 5", "Transfer-Encoding: chunked"]
    both.sort(key=lambda line: line != first)
    inside = "DELETE /connectors/c HTTP/1.1\r\nHost: x\r\n\r\n"
    cluster.config.has("c")
    url = cluster.rest.base_url
    reader, writer = await asyncio.open_connection(url.host, url.port)

    head = "\r\n".join(["PUT /connectors/c/pause HTTP/1.1", "Host: x", *both])
    writer.write(f"{head}\r\n\r\n0\r\n\r\n{inside}".encode())
    replied = await reader.read()
    writer.close()

    assert replied.startswith(b"HTTP/1.1 400")
    assert replied.count(b"HTTP/1.1") == 1
    assert json.loads(replied.partition(b"\r\n\r\n")[2])["error_code"] == 400
    assert "c" in cluster.config.connectors
