"""Roles as tasks of one loop: readiness, an end nobody asked for, the order of the drain."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest
from copycat_connect.errors import ConfigError
from copycat_launcher.errors import StartError
from copycat_launcher.in_process import RoleTask, Serve, first_end, stop_all
from copycat_launcher.roles import CONFIG, GATEWAY, SCHEDULER


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
