"""When a gateway counts as ready.

Whether a broker answers is known before anything is started.
"""

from __future__ import annotations

import asyncio

import pytest
from copycat_cli.credentials import own_headers, own_user
from copycat_connect.errors import ConfigError
from copycat_embedded.ports import free_ports
from copycat_launcher.broker_process import check_reachable
from copycat_launcher.errors import StartError
from copycat_launcher.readiness import serves_rest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response


async def asked_until_ready(httpserver: HTTPServer, *statuses: int) -> list[Request]:
    """Answer with these statuses, one after the other; returns the requests it took."""
    asked: list[Request] = []

    def answer(request: Request) -> Response:
        asked.append(request)
        return Response(status=statuses[min(len(asked), len(statuses)) - 1])

    httpserver.expect_request("/health").respond_with_handler(answer)
    await asyncio.wait_for(serves_rest(httpserver.url_for("").rstrip("/")), 60)
    return asked


@pytest.mark.parametrize("last", [200, 401, 403])
async def test_it_is_asked_until_it_is_healthy_or_wants_to_know_who_asks(
    httpserver: HTTPServer, last: int
) -> None:
    assert len(await asked_until_ready(httpserver, 503, 500, 404, last)) == 4


async def test_it_is_told_who_asks(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COPYCAT_USER", "börn:pa:ss")

    (asked,) = await asked_until_ready(httpserver, 200)

    assert asked.authorization is not None
    assert (asked.authorization.username, asked.authorization.password) == ("börn", "pa:ss")


def test_without_the_variable_nobody_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COPYCAT_USER", raising=False)
    monkeypatch.setenv("COPYCAT_TOKEN", "a.good.token")
    assert own_headers() == {"Authorization": "Bearer a.good.token"}
    monkeypatch.delenv("COPYCAT_TOKEN")

    assert own_user() is None
    assert own_headers() == {}


async def test_one_living_broker_is_enough() -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        await check_reachable(f"127.0.0.1:{free_ports(1)[0]},127.0.0.1:{port}")


async def test_none_is_refused_naming_the_key_and_the_reason() -> None:
    port = free_ports(1)[0]
    with pytest.raises(StartError, match=rf"bootstrap\.servers=127\.0\.0\.1:{port} .*Connect call failed"):
        await check_reachable(f"127.0.0.1:{port}")


async def test_what_is_no_address_is_refused() -> None:
    with pytest.raises(ConfigError, match="'localhost' is not host:port"):
        await check_reachable("localhost")
