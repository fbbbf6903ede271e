"""Whether a broker answers is known before anything is started."""

from __future__ import annotations

import asyncio

import pytest
from copycat_connect.errors import ConfigError
from copycat_embedded.ports import free_ports
from copycat_launcher.errors import StartError
from copycat_launcher.reachable import check_reachable


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
