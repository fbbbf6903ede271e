"""One address for a service that moves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from copycat_launcher.forwarding import Forwarder

SECONDS = 30.0


@asynccontextmanager
async def service(name: str) -> AsyncIterator[str]:
    """Answer each line with the service's name before it."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(f"{name} ".encode() + line)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def forwarded() -> AsyncIterator[tuple[Forwarder, int]]:
    forwarder = Forwarder()
    address = await forwarder.start()
    try:
        yield forwarder, int(address.rpartition(":")[2])
    finally:
        await forwarder.stop()


async def ask(port: int, word: str) -> str:
    """Return the answer; nothing when the connection ends."""
    async with asyncio.timeout(SECONDS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"{word}\n".encode())
        try:
            return (await reader.readline()).decode().strip()
        except ConnectionError:
            return ""
        finally:
            writer.close()


async def test_a_connection_leads_to_the_service() -> None:
    async with service("one") as one, forwarded() as (forwarder, port):
        forwarder.lead_to(one)
        assert await ask(port, "hello") == "one hello"


async def test_a_move_cuts_connections_and_new_ones_lead_to_the_new_place() -> None:
    async with service("one") as one, service("two") as two, forwarded() as (forwarder, port):
        forwarder.lead_to(one)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"hello\n")
        assert await reader.readline() == b"one hello\n"
        forwarder.lead_to(two)
        assert await asyncio.wait_for(reader.read(), SECONDS) == b""
        writer.close()
        assert await ask(port, "hello") == "two hello"


@pytest.mark.parametrize("target", ["", "127.0.0.1:1"])
async def test_a_connection_ends_while_nobody_is_there(target: str) -> None:
    async with forwarded() as (forwarder, port):
        forwarder.lead_to(target)
        assert await ask(port, "hello") == ""
