"""One copy of an embedded Copycat: one address for a service that moves, and the secret copies share."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from copycat_connect.errors import ConfigError
from copycat_launcher.member import Forwarder, Member, shared_secret
from copycat_launcher.worker_properties import embedded_properties, standalone_properties, up_properties

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


PORTS = (1, 2, 3, 4, 5)


def test_all_who_come_at_once_get_the_same_secret(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "orders"

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: shared_secret(folder), range(32)))

    assert len(found) == 1
    assert len(found.pop()) > 32
    assert [path.name for path in folder.iterdir()] == ["cluster.secret"]
    assert stat.S_IMODE((folder / "cluster.secret").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ConfigError, match=r"cannot be kept in .*file/orders/cluster\.secret"):
        shared_secret(tmp_path / "file" / "orders")


async def test_a_copy_that_other_machines_reach_must_be_given_a_secret(tmp_path: Path) -> None:
    member = Member("orders", "db.example", {}, tmp_path)

    with pytest.raises(ConfigError, match=r"at db\.example, and cluster\.secret is not set"):
        await member.serve({"bootstrap.servers": "127.0.0.1:1"}, asyncio.Event(), lambda _: None)


def test_each_way_to_run_has_a_secret_and_the_users_own_wins() -> None:
    mine = {"cluster.secret": "one that the user has chosen"}

    def embedded(settings: dict[str, str]) -> dict[str, str]:
        return embedded_properties(
            "orders", "a:1", settings, rest_port=1, executor="a:2", services={}, secret="of the file"
        )

    made = [up_properties("a:1", 1, PORTS, {}), standalone_properties({}, PORTS), embedded({})]
    chosen = [up_properties("a:1", 1, PORTS, mine), standalone_properties(mine, PORTS), embedded(mine)]

    assert len({each["cluster.secret"] for each in made}) == 3
    assert made[2]["cluster.secret"] == "of the file"
    assert {each["cluster.secret"] for each in chosen} == {mine["cluster.secret"]}
