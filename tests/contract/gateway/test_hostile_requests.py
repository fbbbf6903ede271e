"""Requests that lie, stall or never end: each is answered or dropped, and others are served meanwhile."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from copycat_gateway.edge.intake import RequestLimit

from tests.contract.gateway.world import World

VALIDATE = "PUT /connector-plugins/FileStreamSource/config/validate HTTP/1.1"
TYPED = "Host: x\r\nContent-Type: application/json"
TEXT = "ü🐈" * 50
CONFIG = json.dumps({"connector.class": "FileStreamSource", "topic": "t", "k": TEXT}, ensure_ascii=False)


class Wire:
    """A connection on which a test writes bytes as it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, *parts: str | bytes) -> None:
        for part in parts:
            self._writer.write(part if isinstance(part, bytes) else part.encode())
            await self._writer.drain()

    async def drip(self, part: str) -> None:
        """Send it again and again until the connection ends or this is cancelled."""
        with suppress(ConnectionError):
            while True:
                await self.send(part)
                await asyncio.sleep(0.05)

    async def status(self) -> int:
        """Return the status of the next answer and read past its body; 0 when the connection ends."""
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
        self.body = await self._reader.readexactly(int(length.partition(b":")[2]))
        return int(head.split()[1])

    async def rest(self) -> bytes:
        """Return all that still comes until the other side closes."""
        return await self._reader.read()


@asynccontextmanager
async def wire(world: World) -> AsyncIterator[Wire]:
    url = world.rest.base_url
    reader, writer = await asyncio.open_connection(url.host, url.port)
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()


async def serves(world: World) -> bool:
    return (await world.rest.get("/connectors")).status_code == 200


async def test_a_body_may_come_in_chunks_that_split_characters(cluster: World) -> None:
    body = CONFIG.encode()
    async with wire(cluster) as one:
        await one.send(f"PUT /connectors/c/config HTTP/1.1\r\n{TYPED}\r\nTransfer-Encoding: chunked\r\n\r\n")
        for start in range(0, len(body), 7):
            chunk = body[start : start + 7]
            await one.send(f"{len(chunk):x}\r\n", chunk, "\r\n")
        await one.send("0\r\n\r\n")

        assert await one.status() == 201

    assert json.loads(one.body)["config"]["k"] == TEXT


async def test_a_body_shorter_than_told_changes_nothing(cluster: World) -> None:
    async with wire(cluster) as one:
        told = len(CONFIG.encode()) + 1
        await one.send(
            f"PUT /connectors/c/config HTTP/1.1\r\n{TYPED}\r\nContent-Length: {told}\r\n\r\n{CONFIG}"
        )

    assert await serves(cluster)
    assert "c" not in cluster.config.connectors


async def test_bytes_beyond_the_told_length_are_no_part_of_the_body(cluster: World) -> None:
    async with wire(cluster) as one:
        await one.send(f"{VALIDATE}\r\n{TYPED}\r\nContent-Length: 2\r\n\r\n{{}}garbage\r\n\r\n")

        assert await one.status() == 500
        assert b"contains no connector type" in one.body
        assert (await one.rest()).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "framing",
    [
        "Content-Length: -1",
        "Content-Length: many",
        "Content-Length: 2\r\nContent-Length: 3",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: chunked\r\n\r\nnot a size\r\n",
    ],
)
async def test_a_body_framed_in_no_known_way_is_refused(cluster: World, framing: str) -> None:
    async with wire(cluster) as one:
        await one.send(f"{VALIDATE}\r\n{TYPED}\r\n{framing}\r\n\r\n{{}}")

        assert (await one.rest())[:12] in {b"HTTP/1.1 400", b"HTTP/1.1 501"}

    assert await serves(cluster)


async def test_a_header_without_end_is_dropped(bare: World) -> None:
    async with wire(bare) as one:
        with suppress(ConnectionResetError):  # closed while more of it comes
            await one.send("GET /connectors HTTP/1.1\r\nHost: x\r\nX-Long: ", b"x" * 200_000)
            assert not (await one.rest()).startswith(b"HTTP/1.1 2")

    assert await serves(bare)


async def test_a_body_that_never_ends_is_answered_at_the_deadline(bare: World) -> None:
    await bare.open_gateway(rest_request_timeout_ms="400")
    async with wire(bare) as one:
        await one.send(f"{VALIDATE}\r\n{TYPED}\r\nContent-Length: 100\r\n\r\n{{")

        assert await serves(bare)
        assert await one.status() == 500

    assert json.loads(one.body) == {"error_code": 500, "message": "Request timed out"}


async def test_many_stalled_bodies_keep_nobody_waiting(bare: World) -> None:
    async with asyncio.TaskGroup() as group:
        done = asyncio.Event()

        async def stall() -> None:
            async with wire(bare) as one:
                await one.send(f"{VALIDATE}\r\n{TYPED}\r\nContent-Length: 100\r\n\r\n{{")
                await done.wait()

        for _ in range(100):
            group.create_task(stall())

        assert await serves(bare)
        done.set()


async def test_of_two_equal_keys_the_later_counts(cluster: World) -> None:
    body = (
        b'{"name":"one","name":"two","config":{"connector.class":"FileStreamSource","topic":"a","topic":"b"}}'
    )

    reply = await cluster.rest.post("/connectors", content=body, headers={"content-type": "application/json"})

    assert reply.status_code == 201
    assert cluster.config.connectors.keys() == {"two"}
    assert reply.json()["config"]["topic"] == "b"


async def test_line_ends_in_a_path_stay_in_the_message(bare: World) -> None:
    async with wire(bare) as one:
        await one.send("GET /connectors/a%0D%0AX-Evil:%20yes HTTP/1.1\r\nHost: x\r\n\r\n")

        assert await one.status() == 404

    assert json.loads(one.body)["message"] == "Connector a\r\nX-Evil: yes not found"


@pytest.mark.long
async def test_two_thousand_requests_at_once_are_all_answered(bare: World) -> None:
    async def get() -> int:
        async with wire(bare) as one:
            await one.send("GET /connectors HTTP/1.1\r\nHost: x\r\n\r\n")
            return await one.status()

    statuses = await asyncio.gather(*(get() for _ in range(2000)))

    assert Counter(statuses) == {200: 2000}


async def test_more_requests_than_are_carried_out_at_once_are_told_to_come_later() -> None:
    sent: list[Any] = []
    arrived, done = asyncio.Event(), asyncio.Event()

    async def slow(*_: object) -> None:
        arrived.set()
        await done.wait()

    async def send(message: Any) -> None:
        sent.append(message)

    limit = RequestLimit(slow, most=1)
    scope: Any = {"type": "http"}
    receive: Any = None
    first = asyncio.create_task(limit(scope, receive, send))
    await arrived.wait()

    await limit(scope, receive, send)
    done.set()
    await first

    head, body = sent
    assert head["status"] == 503
    assert (b"retry-after", b"1") in head["headers"]
    assert json.loads(body["body"])["error_code"] == 503


async def test_headers_that_come_slowly_are_answered_at_the_deadline(bare: World) -> None:
    await bare.open_gateway(rest_request_timeout_ms="600")
    async with wire(bare) as one:
        await one.send("GET /connectors HTTP/1.1\r\n")
        drip = asyncio.create_task(one.drip("X-Slow: a\r\n"))

        assert await serves(bare)
        assert await one.status() == 408
        assert await one.rest() == b""
        drip.cancel()

    assert json.loads(one.body)["error_code"] == 408


async def test_a_connection_on_which_nothing_comes_is_closed(bare: World) -> None:
    await bare.open_gateway(rest_request_timeout_ms="400")
    async with wire(bare) as one:
        assert await one.rest() == b""


async def test_slow_headers_of_a_second_request_are_answered_at_the_deadline(bare: World) -> None:
    await bare.open_gateway(rest_request_timeout_ms="600")
    async with wire(bare) as one:
        await one.send("GET /connectors HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await one.status() == 200

        await one.send("GET /connectors HTTP/1.1\r\n")
        assert await one.status() == 408
