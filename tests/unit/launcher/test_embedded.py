"""An embedded copy of Copycat: its connectors, the address of a service that moves, roles in one loop."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from copycat_connect.errors import ConfigError, CopycatError, LogLostError
from copycat_eventlog.log import Record
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_launcher import core
from copycat_launcher.core import WHERE, Core, addresses_in
from copycat_launcher.embedded import Copycat, named, told_topics
from copycat_launcher.errors import StartError
from copycat_launcher.in_process import RoleTask, Serve, first_end, stop_all
from copycat_launcher.member import Forwarder, Member, shared_secret
from copycat_launcher.roles import CONFIG, GATEWAY, SCHEDULER, SERVICES
from copycat_launcher.worker_properties import embedded_properties, standalone_properties, up_properties

CLASS = {"connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector"}


def test_every_copy_of_an_application_gives_a_connector_the_same_name() -> None:
    name, config = named("orders", CLASS)
    assert name == "orders-FileStreamSourceConnector"
    assert config == {**CLASS, "name": name}


def test_a_name_that_was_given_stands() -> None:
    assert named("orders", {**CLASS, "name": "lines"})[0] == "lines"


def test_a_value_that_is_no_string_is_refused_by_its_key() -> None:
    with pytest.raises(ConfigError, match=r"values of tasks\.max are no strings"):
        named("orders", cast("Any", {**CLASS, "tasks.max": 1}))


def test_a_connector_without_class_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"has no connector\.class"):
        named("orders", {"name": "lines"})


@pytest.mark.parametrize(
    ("config", "topics"),
    [
        ({"topics": "a, b"}, {"a", "b"}),
        ({"topic": "a"}, {"a"}),
        ({"topic": "a", "transforms": "rename"}, set()),
        ({"topic.prefix": "a-"}, set()),
    ],
)
def test_topics_are_told_only_where_the_records_cannot_change_them(
    config: dict[str, str], topics: set[str]
) -> None:
    assert told_topics(config) == topics


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


ADDRESSES = {role.name: "127.0.0.1:9101" for role in SERVICES}


def test_addresses_are_read_back() -> None:
    assert addresses_in(Record(WHERE, json.dumps(ADDRESSES).encode())) == ADDRESSES


@pytest.mark.parametrize(
    "value",
    [
        *(None, b"", b"\xff", b"{", b"[]", b"7", b"[" * 100_000, b"9" * 5000, rb'"\ud800"'),
        json.dumps({**ADDRESSES, "config": 9101}).encode(),
        json.dumps({"config": "127.0.0.1:9101"}).encode(),
    ],
)
def test_what_another_program_wrote_names_no_addresses(value: bytes | None) -> None:
    assert addresses_in(Record(WHERE, value)) is None


class Gone(MemoryLog):
    """A log whose topic is deleted, so that nobody leads any more."""

    async def lost(self) -> CopycatError:
        return LogLostError("Topic 'orders-services' was deleted")


async def test_a_core_whose_topic_is_gone_ends_so_that_it_is_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topic = MemoryTopic()
    await MemoryLog(topic).start(lambda _entries, _reached: None)  # another copy leads
    monkeypatch.setattr(core, "open_log", lambda _settings: Gone(topic))
    properties = {"group.id": "orders", "bootstrap.servers": "127.0.0.1:1"}

    async with asyncio.timeout(60):
        with pytest.raises(LogLostError, match="'orders-services' was deleted"):
            await Core(ADDRESSES, lambda _where: None).serve(properties, asyncio.Event(), lambda _: None)


def serving(journal: list[str], name: str) -> Serve:
    async def serve(properties: Mapping[str, str], stop: asyncio.Event, ready: Callable[[str], None]) -> None:
        ready(properties[name])
        await stop.wait()
        journal.append(name)

    return serve


async def refusing(_: Mapping[str, str], __: asyncio.Event, ___: Callable[[str], None]) -> None:
    raise ConfigError("config.listen is wrong")


async def leaving(_: Mapping[str, str], __: asyncio.Event, ready: Callable[[str], None]) -> None:
    ready("here")


async def test_the_last_stage_stops_first() -> None:
    journal: list[str] = []
    roles = (CONFIG, SCHEDULER, GATEWAY)
    tasks = [RoleTask(role, serving(journal, role.name), {role.name: "host:1"}) for role in roles]
    for task in tasks:
        await asyncio.wait_for(task.ready(), 5)
    await stop_all(tasks)
    assert tasks[0].address == "host:1"
    assert journal == ["gateway", "scheduler", "config"]


async def test_a_role_that_refuses_is_not_ready() -> None:
    task = RoleTask(CONFIG, refusing, {})
    with pytest.raises(ConfigError, match=r"config\.listen is wrong"):
        await asyncio.wait_for(task.ready(), 5)
    await task.stop()


async def test_a_role_that_leaves_ends_the_worker() -> None:
    tasks = [RoleTask(CONFIG, serving([], "config"), {"config": "x"}), RoleTask(GATEWAY, leaving, {})]
    with pytest.raises(StartError, match="The gateway ended on its own"):
        await asyncio.wait_for(first_end(tasks), 5)
    await stop_all(tasks)


NOWHERE = "127.0.0.1:1"


def test_a_start_without_brokers_names_them_and_makes_room_for_another() -> None:
    for _ in range(2):
        with pytest.raises(StartError, match=f"No broker of bootstrap.servers={NOWHERE} answers"):
            Copycat("orders", NOWHERE).start()


def test_a_copy_starts_once() -> None:
    copy = Copycat("orders", NOWHERE)
    with pytest.raises(StartError, match="No broker"):
        copy.start()
    with pytest.raises(StartError, match=r"Copycat\('orders'\) cannot start: this process has started"):
        copy.start()


def test_what_has_not_started_can_be_stopped_and_refuses_calls() -> None:
    copy = Copycat("orders")
    copy.stop()
    with pytest.raises(StartError, match=r"Copycat\('orders'\) does not run\. Call start"):
        copy.connectors()


def test_the_end_of_a_copy_that_failed_is_told_where_it_is_waited_for() -> None:
    copy = Copycat("orders", NOWHERE)
    with pytest.raises(StartError):
        copy.start()
    with pytest.raises(StartError, match="No broker"):
        copy.join(5)


def test_an_empty_app_id_is_refused() -> None:
    with pytest.raises(ConfigError, match="The app id is empty"):
        Copycat("")
