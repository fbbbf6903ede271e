"""When a program counts as hung."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from copycat_connect.errors import ConfigError
from copycat_launcher import hang_watch
from copycat_launcher.hang_watch import Answer, HangWatch
from copycat_launcher.worker_properties import hang_timeout_seconds

GIVEN, REFUSED, MISSING = Answer.GIVEN, Answer.REFUSED, Answer.MISSING


class Program:
    """Answers as a list says, and then no more questions."""

    def __init__(self, *answers: Answer) -> None:
        self.left: Iterator[Answer] = iter(answers)
        self.asked: list[float] = []
        self.all_asked = asyncio.Event()

    async def ask(self, seconds: float) -> Answer:
        try:
            answer = next(self.left)
        except StopIteration:
            self.all_asked.set()
            await asyncio.Event().wait()
            raise
        self.asked.append(seconds)
        return answer


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hang_watch, "PAUSE_SECONDS", 0.001)


async def hangs(program: Program, limit: float = 15.0, *, ready: bool = False) -> bool:
    """Tell whether it was found to hang before it was asked everything."""
    hung = asyncio.create_task(HangWatch(program.ask, limit).hung(ready=ready))
    asked = asyncio.create_task(program.all_asked.wait())
    await asyncio.wait((hung, asked), return_when=asyncio.FIRST_COMPLETED, timeout=60)
    found = hung.done()
    hung.cancel()
    asked.cancel()
    await asyncio.gather(hung, asked, return_exceptions=True)
    return found


@pytest.mark.parametrize(
    ("answers", "hung"),
    [
        ((GIVEN, MISSING, MISSING, MISSING), True),
        ((GIVEN, MISSING, MISSING, GIVEN, MISSING, MISSING, GIVEN), False),  # a busy machine stood still
        ((MISSING,) * 20, False),  # it takes connections, and is still starting
        ((REFUSED,) * 20, False),
        ((GIVEN, *(REFUSED,) * 20), False),  # it drains
        ((GIVEN, MISSING, REFUSED, MISSING, REFUSED, MISSING), False),
    ],
)
async def test_it_hangs_when_it_answered_before_and_is_silent_in_several_questions_in_a_row(
    answers: tuple[Answer, ...], hung: bool
) -> None:
    assert await hangs(Program(*answers)) is hung


async def test_one_that_froze_right_after_it_was_ready_hangs_though_it_never_answered() -> None:
    assert await hangs(Program(MISSING, MISSING, MISSING), ready=True)


@pytest.mark.parametrize(("limit", "questions", "seconds"), [(3, 3, 1), (15, 3, 5), (60, 12, 5)])
async def test_the_questions_together_take_as_long_as_it_may_be_silent(
    limit: float, questions: int, seconds: float
) -> None:
    program = Program(GIVEN, *(MISSING,) * questions)
    assert await hangs(program, limit)
    assert program.asked == [seconds] * (questions + 1)


async def test_without_a_limit_nothing_is_asked() -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(HangWatch(Program().ask, 0).hung(ready=True), 0.01)


@pytest.mark.parametrize(("value", "seconds"), [(None, 15.0), ("0", 0.0), ("3000", 3.0)])
def test_the_limit_is_a_worker_property(value: str | None, seconds: float) -> None:
    assert hang_timeout_seconds({} if value is None else {"service.hang.timeout.ms": value}) == seconds


@pytest.mark.parametrize("value", ["-1", "1", "2999", "soon"])
def test_a_limit_that_a_busy_machine_exceeds_is_refused(value: str) -> None:
    with pytest.raises(ConfigError, match=r"service\.hang\.timeout\.ms"):
        hang_timeout_seconds({"service.hang.timeout.ms": value})
