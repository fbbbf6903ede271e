"""A running role is asked whether it serves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from http import HTTPStatus
from pathlib import Path

import pytest
from click.testing import CliRunner
from copycat_embedded.ports import free_ports
from copycat_launcher.main import copycat_worker
from copycat_rest.contexts import server_context
from copycat_rpc.server import RpcServer
from copycat_testkit.certificates import Authority
from copycat_tls.keys import REST_PREFIX, read_tls


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
