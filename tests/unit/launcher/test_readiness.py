"""What counts as ready: a gateway, brokers, a role that runs, a connector of a standalone worker."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from functools import partial
from http import HTTPStatus
from pathlib import Path

import pytest
from click.testing import CliRunner
from copycat_cli.connector_files import ConnectorFile
from copycat_cli.credentials import own_headers, own_user
from copycat_connect.errors import ConfigError
from copycat_embedded.ports import free_ports
from copycat_launcher.broker_process import check_reachable
from copycat_launcher.errors import ConnectorStartError, StartError
from copycat_launcher.main import copycat_worker
from copycat_launcher.operations import submit
from copycat_launcher.readiness import serves_rest
from copycat_rest.contexts import server_context
from copycat_rpc.server import RpcServer
from copycat_testkit.certificates import Authority
from copycat_tls.keys import REST_PREFIX, read_tls
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.unit.cli.fake_connect import FakeConnect, Known


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


def file_with(folder: Path, **settings: str) -> Path:
    file = folder / "worker.properties"
    file.write_text("".join(f"{key.replace('_', '.')}={value}\n" for key, value in settings.items()), "utf-8")
    return file


async def probed(file: Path, role: str) -> tuple[int, str]:
    """Return the exit code and what was said."""
    arguments = [str(file), "--role", role, "--probe"]
    result = await asyncio.to_thread(CliRunner().invoke, copycat_worker, arguments)
    return result.exit_code, result.output


@pytest.fixture
async def server() -> AsyncIterator[RpcServer]:
    """Give a server that has not started."""
    server = RpcServer("127.0.0.1:0")
    yield server
    await server.stop(0)


async def test_a_role_that_serves_is_well(server: RpcServer, tmp_path: Path) -> None:
    file = file_with(tmp_path, status_listen=await server.start())
    await server.set_serving(True)
    assert await probed(file, "status") == (0, "")


async def test_a_role_that_has_not_caught_up_is_not_well(server: RpcServer, tmp_path: Path) -> None:
    address = await server.start()
    file = file_with(tmp_path, status_listen=address)
    assert await probed(file, "status") == (
        1,
        f"copycat: The status at {address} does not serve: NOT_SERVING\n",
    )


async def test_listening_everywhere_it_is_asked_on_this_machine(tmp_path: Path) -> None:
    server = RpcServer("127.0.0.1:0")
    port = (await server.start()).rpartition(":")[2]
    await server.set_serving(True)
    code, _ = await probed(file_with(tmp_path, executor_listen=f"0.0.0.0:{port}"), "executor")
    await server.stop(0)
    assert code == 0


async def test_a_role_that_is_not_there_is_not_well(tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_ports(1)[0]}"
    code, said = await probed(file_with(tmp_path, config_listen=address), "config")
    assert (code, f"The config at {address} does not serve: UNAVAILABLE" in said) == (1, True)


async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, status: HTTPStatus) -> None:
    asked = await reader.readuntil(b"\r\n\r\n")
    assert asked.startswith(b"GET /health ")
    writer.write(f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Length: 8\r\n\r\nstarting".encode())
    await writer.drain()
    writer.close()


@pytest.mark.parametrize(
    ("status", "code"),
    [(HTTPStatus.OK, 0), (HTTPStatus.UNAUTHORIZED, 0), (HTTPStatus.SERVICE_UNAVAILABLE, 1)],
)
async def test_the_gateway_is_asked_over_rest(status: HTTPStatus, code: int, tmp_path: Path) -> None:
    async with await asyncio.start_server(partial(answered, status=status), "127.0.0.1", 0) as rest:
        port = rest.sockets[0].getsockname()[1]
        found, said = await probed(file_with(tmp_path, listeners=f"http://127.0.0.1:{port}"), "gateway")
    assert found == code
    assert ("503: starting" in said) == (code == 1)


async def test_a_gateway_with_https_is_asked_so_its_password_named_in_a_file(tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.properties"
    secrets.write_text("store=of-this-test\n", "utf-8")
    settings = {
        "config.providers": "file",
        "config.providers.file.class": "FileConfigProvider",
        "listeners.https.ssl.keystore.type": "PKCS12",
        "listeners.https.ssl.keystore.location": str(Authority(tmp_path).pkcs12("server", "of-this-test")),
        "listeners.https.ssl.keystore.password": f"${{file:{secrets}:store}}",
    }
    tls = server_context(
        read_tls({**settings, f"{REST_PREFIX}ssl.keystore.password": "of-this-test"}, REST_PREFIX)
    )
    answer = partial(answered, status=HTTPStatus.OK)
    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls) as rest:
        port = rest.sockets[0].getsockname()[1]
        file = file_with(tmp_path, **settings, listeners=f"https://127.0.0.1:{port}")
        assert await probed(file, "gateway") == (0, "")


async def test_all_asks_every_role(server: RpcServer, tmp_path: Path) -> None:
    address = await server.start()
    await server.set_serving(True)
    away = f"127.0.0.1:{free_ports(1)[0]}"
    settings = {f"{role}_listen": address for role in ("config", "offset", "status", "executor")}
    code, said = await probed(file_with(tmp_path, **settings, scheduler_listen=away), "all")
    assert (code, said.startswith(f"copycat: The scheduler at {away}")) == (1, True)


def test_nothing_is_started_without_a_file(tmp_path: Path) -> None:
    result = CliRunner().invoke(copycat_worker, [str(tmp_path / "none.properties"), "--probe"])
    assert result.exit_code == 2


CONFIG = {"name": "a/b c", "connector.class": "FileStreamSource", "topic": "lines"}


@pytest.fixture
def rest(httpserver: HTTPServer) -> FakeConnect:
    fake = FakeConnect()
    httpserver.expect_request(re.compile(".*")).respond_with_handler(fake)
    return fake


def a_file(state: str | None = None, **config: str) -> ConnectorFile:
    return ConnectorFile(Path("c.json"), "a/b c", {**CONFIG, **config}, state)


async def test_a_new_connector_is_created_and_waited_for(rest: FakeConnect, httpserver: HTTPServer) -> None:
    def settles(known: Known) -> None:
        known.state = "RUNNING"

    rest.after_look, rest.begins_as = settles, "UNASSIGNED"
    await asyncio.wait_for(submit(httpserver.url_for(""), a_file()), 20)
    assert rest.changes == [("POST", "/connectors", {"name": "a/b c", "config": CONFIG})]
    assert rest.connectors["a/b c"].state == "RUNNING"


async def test_a_connector_of_the_name_is_changed(rest: FakeConnect, httpserver: HTTPServer) -> None:
    rest.add("a/b c")
    await asyncio.wait_for(submit(httpserver.url_for(""), a_file()), 20)
    assert rest.changes == [("PUT", "/connectors/a%2Fb%20c/config", CONFIG)]


async def test_an_initial_state_travels_with_the_creation(rest: FakeConnect, httpserver: HTTPServer) -> None:
    rest.begins_as = "STOPPED"
    await asyncio.wait_for(submit(httpserver.url_for(""), a_file("STOPPED")), 20)
    body = {"name": "a/b c", "config": CONFIG, "initial_state": "STOPPED"}
    assert rest.changes == [("POST", "/connectors", body)]


async def test_a_refused_connector_says_why(rest: FakeConnect, httpserver: HTTPServer) -> None:
    with pytest.raises(
        ConnectorStartError, match=r"c\.json: connector .* was refused: .*\n  tasks\.max: Invalid"
    ):
        await submit(httpserver.url_for(""), a_file(**{"tasks.max": "many"}))
    assert rest.changes == []


@pytest.mark.parametrize(
    "trace",
    ["no such host\n\tat x.Y", "Traceback (most recent call last):\n  File x\nValueError: no such host"],
)
async def test_a_connector_that_fails_to_start_says_why(
    rest: FakeConnect, httpserver: HTTPServer, trace: str
) -> None:
    rest.add("a/b c", state="FAILED", trace=trace, config=CONFIG)
    with pytest.raises(ConnectorStartError, match=r"failed to start: .*no such host$"):
        await submit(httpserver.url_for(""), a_file())
