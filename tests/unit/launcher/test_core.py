"""Where the services are, as their log says it; anybody may have written to that, too.

Roles as tasks of one loop: readiness, an end nobody asked for, the order of the drain.

An embedded copy that cannot start says why, and leaves the process as it was.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping

import pytest
from copycat_connect.errors import ConfigError, CopycatError, LogLostError
from copycat_eventlog.log import Record
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_launcher import core
from copycat_launcher.core import WHERE, Core, addresses_in
from copycat_launcher.embedded import Copycat
from copycat_launcher.errors import StartError
from copycat_launcher.in_process import RoleTask, Serve, first_end, stop_all
from copycat_launcher.roles import CONFIG, GATEWAY, SCHEDULER, SERVICES

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
