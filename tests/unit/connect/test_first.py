"""The first of several things ends the wait; nothing of the others is left running."""

from __future__ import annotations

import asyncio

import pytest
from copycat_connect.first import first, unless


class Endless:
    """Goes on until it is cancelled, and then takes a moment to end."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.ended = False

    async def run(self) -> None:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            self.ended = True


async def number(value: int) -> int:
    return value


async def failing() -> None:
    raise ValueError("odd")


async def test_what_is_first_has_a_result_and_the_rest_has_ended() -> None:
    endless = Endless()

    lost, won = await first(endless.run(), number(3))

    assert (won.cancelled(), won.result()) == (False, 3)
    assert lost.cancelled()
    assert endless.ended


async def test_things_done_at_the_same_time_all_have_results() -> None:
    assert [task.result() for task in await first(number(1), number(2))] == [1, 2]


async def test_a_failure_is_the_callers_to_ask_for() -> None:
    failed, lost = await first(failing(), Endless().run())

    assert lost.cancelled()
    with pytest.raises(ValueError, match="odd"):
        failed.result()


async def test_who_is_cancelled_leaves_nothing_running() -> None:
    one, other = Endless(), Endless()
    waiting = asyncio.create_task(first(one.run(), other.run()))
    await one.began.wait()
    await other.began.wait()

    waiting.cancel()
    await asyncio.wait((waiting,))

    assert waiting.cancelled()
    assert (one.ended, other.ended) == (True, True)


async def test_work_is_given_up_when_its_event_comes_first() -> None:
    event, endless = asyncio.Event(), Endless()
    event.set()

    assert await unless(number(1), asyncio.Event())
    assert not await unless(endless.run(), event)
    with pytest.raises(ValueError, match="odd"):
        await unless(failing(), asyncio.Event())
