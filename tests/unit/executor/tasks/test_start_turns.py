"""Turns at starting: bounded, and fair between connectors."""

from __future__ import annotations

import asyncio

from copycat_executor.tasks import task_starts as start_turns
from copycat_executor.tasks.task_starts import (
    MAX_CONCURRENT_STARTS,
    MAX_CONCURRENT_STARTS_OF_CONNECTOR,
    StartTurns,
    Turn,
)
from copycat_testkit.simulated import simulated


class Starts:
    """Tasks that ask for turns, and those that have one."""

    def __init__(self) -> None:
        self.turns = StartTurns()
        self.given: list[tuple[str, Turn]] = []

    async def ask(self, connector: str, tasks: int) -> list[asyncio.Task[None]]:
        asked = [asyncio.create_task(self._one(connector)) for _ in range(tasks)]
        await self.pass_on()
        return asked

    async def end_first(self) -> None:
        self.given.pop(0)[1].end()
        await self.pass_on()

    async def pass_on(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    def starting(self) -> list[str]:
        return [connector for connector, _ in self.given]

    async def _one(self, connector: str) -> None:
        self.given.append((connector, await self.turns.take(connector)))


async def test_one_connector_leaves_turns_to_others() -> None:
    starts = Starts()
    await starts.ask("many", 100)
    assert starts.starting() == ["many"] * MAX_CONCURRENT_STARTS_OF_CONNECTOR

    await starts.ask("other", 1)
    assert starts.starting()[-1] == "other"


async def test_no_more_tasks_start_at_once_than_may() -> None:
    starts = Starts()
    for number in range(20):
        await starts.ask(f"connector {number}", 1)
    assert len(starts.given) == MAX_CONCURRENT_STARTS


async def test_connectors_start_tasks_in_turn() -> None:
    starts = Starts()
    await starts.ask("a", 10)
    await starts.ask("b", 10)
    await starts.ask("c", 10)
    for _ in range(9):
        await starts.end_first()
    assert sorted(starts.starting().count(name) for name in "abc") == [2, 3, 3]


async def test_a_task_that_no_longer_starts_gives_its_turn_back() -> None:
    starts = Starts()
    asked = await starts.ask("many", 10)
    for each in asked[MAX_CONCURRENT_STARTS_OF_CONNECTOR:-1]:
        each.cancel()
    await starts.end_first()
    await asked[-1]


@simulated
async def test_a_start_that_hangs_holds_up_the_others_for_a_while_only() -> None:
    starts = Starts()
    waited = asyncio.get_running_loop().time()
    asked = await starts.ask("hangs", MAX_CONCURRENT_STARTS_OF_CONNECTOR + 1)
    await asked[-1]
    assert asyncio.get_running_loop().time() - waited >= start_turns.MAX_TURN_SECONDS - 0.1
