"""When programs are started, started again and stopped, what ends a role, and when one counts as hung."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping

import pytest
from copycat_connect.errors import ConfigError, CopycatError
from copycat_connect.retry import RetryPolicy
from copycat_launcher import hang_watch
from copycat_launcher.errors import StartError
from copycat_launcher.hang_watch import HangWatch, ProbeResult
from copycat_launcher.in_process import KeptRole
from copycat_launcher.roles import CONFIG
from copycat_launcher.supervisor import Supervisor
from copycat_launcher.worker_properties import hang_timeout_seconds
from copycat_testkit.eventually import eventually

AT_ONCE = RetryPolicy(first=0.001, ceiling=0.004)


class FakeProgram:
    """A program whose readiness and end the test decides."""

    def __init__(self, name: str, journal: list[str], ready: bool = True) -> None:
        self.name = name
        self.log = f"{name}.log"
        self.journal = journal
        self.is_ready = asyncio.Event()
        self.has_ended = asyncio.Event()
        self.hangs = asyncio.Event()
        self.starts = asyncio.Queue[int]()
        if ready:
            self.is_ready.set()

    async def start(self) -> None:
        self.journal.append(f"start {self.name}")
        self.starts.put_nowait(len(self.journal))

    async def ready(self) -> None:
        await self.is_ready.wait()

    async def ended(self) -> str:
        await self.has_ended.wait()
        self.has_ended.clear()
        return "code 1"

    async def hung(self) -> None:
        await self.hangs.wait()
        self.hangs.clear()

    async def stop(self) -> None:
        self.journal.append(f"stop {self.name}")

    async def kill(self) -> None:
        self.journal.append(f"kill {self.name}")

    def last_words(self) -> str:
        return f"copycat {self.name}: no such setting"


async def test_the_last_stage_is_drained_first() -> None:
    journal: list[str] = []
    broker, service, gateway = (FakeProgram(name, journal) for name in ("broker", "service", "gateway"))
    supervisor = Supervisor([[broker], [service], [gateway]], journal.append)
    await supervisor.start()
    supervisor.keep()
    await supervisor.stop()
    assert journal[-3:] == ["stop gateway", "stop service", "stop broker"]


async def test_everything_is_started_before_anything_is_ready() -> None:
    journal: list[str] = []
    slow, other = FakeProgram("slow", journal, ready=False), FakeProgram("other", journal)
    starting = asyncio.create_task(Supervisor([[slow], [other]], journal.append).start(journal.append))
    await asyncio.wait_for(other.starts.get(), 5)
    slow.is_ready.set()
    await starting
    assert journal[:2] == ["start slow", "start other"]
    assert set(journal[2:]) == {"slow", "other"}


async def test_what_ends_is_started_again_and_one_line_says_so() -> None:
    said: list[str] = []
    program = FakeProgram("scheduler", [])
    supervisor = Supervisor([[program]], said.append, AT_ONCE)
    await supervisor.start()
    await program.starts.get()
    supervisor.keep()
    for _ in range(3):
        program.has_ended.set()
        await asyncio.wait_for(program.starts.get(), 5)
    await supervisor.stop()
    assert [line.partition("starting it again in ")[2] for line in said] == [
        "0.001 s. Log: scheduler.log",
        "0.002 s. Log: scheduler.log",
        "0.004 s. Log: scheduler.log",
    ]
    assert said[0].startswith(
        "scheduler ended (code 1): copycat scheduler: no such setting; starting it again"
    )


async def test_what_hangs_is_killed_before_it_is_started_again() -> None:
    said: list[str] = []
    journal: list[str] = []
    program = FakeProgram("status", journal)
    supervisor = Supervisor([[program]], said.append, AT_ONCE)
    await supervisor.start()
    await program.starts.get()
    supervisor.keep()
    program.hangs.set()
    await asyncio.wait_for(program.starts.get(), 60)
    await supervisor.stop()
    assert journal == ["start status", "kill status", "start status", "stop status"]
    assert said == [
        "status hangs: it lives and answers nothing. It is killed. Log: status.log",
        "status ended (killed because it hung); starting it again in 0.001 s. Log: status.log",
    ]


async def test_a_program_that_ends_while_starting_fails_the_start_with_its_last_words() -> None:
    bad, slow = FakeProgram("offset", [], ready=False), FakeProgram("slow", [], ready=False)
    bad.has_ended.set()
    with pytest.raises(StartError, match=r"offset did not start \(code 1\): copycat offset: no such setting"):
        await Supervisor([[bad, slow]], list[str]().append).start()


async def test_what_is_not_ready_in_time_is_named_with_its_log() -> None:
    slow = FakeProgram("executor", [], ready=False)
    with pytest.raises(StartError, match=r"Not ready within 0 s: executor \(executor\.log\)"):
        await Supervisor([[slow], [FakeProgram("fine", [])]], list[str]().append).start(seconds=0.01)


async def test_a_program_that_cannot_be_started_again_ends_the_supervision() -> None:
    class Gone(FakeProgram):
        async def start(self) -> None:
            if self.journal:
                raise CopycatError("the jars are gone")
            await super().start()

    program = Gone("broker", [])
    supervisor = Supervisor([[program]], list[str]().append, AT_ONCE)
    await supervisor.start()
    supervisor.keep()
    program.has_ended.set()
    with pytest.raises(CopycatError, match="the jars are gone"):
        await asyncio.wait_for(supervisor.crashed(), 5)
    await supervisor.stop()


class Script:
    """A role that ends as the test says, start by start; after that it serves until stopped."""

    def __init__(self, *ends: Exception) -> None:
        self.ends = list(ends)
        self.starts = 0
        self.drained = False

    async def serve(self, _: Mapping[str, str], stop: asyncio.Event, ready: Callable[[str], None]) -> None:
        self.starts += 1
        if self.ends and isinstance(self.ends[0], ConfigError):
            raise self.ends.pop(0)
        ready("here")
        if self.ends:
            raise self.ends.pop(0)
        await stop.wait()
        self.drained = True


async def test_a_role_that_ends_is_started_again_and_drains_when_told_to_stop() -> None:
    script = Script(CopycatError("the log went away"), RuntimeError("a bug"))
    role = KeptRole(CONFIG, script.serve, {})
    await asyncio.wait_for(role.ready(), 5)
    await eventually(lambda: script.starts == 3, 20)
    await role.stop()
    assert script.drained


async def test_a_role_that_never_served_is_not_started_again() -> None:
    script = Script(ConfigError("config.listen is wrong"))
    role = KeptRole(CONFIG, script.serve, {})
    with pytest.raises(ConfigError, match=r"config\.listen"):
        await asyncio.wait_for(role.ready(), 5)
    await role.stop()
    assert script.starts == 1


GIVEN, REFUSED, MISSING = ProbeResult.GIVEN, ProbeResult.REFUSED, ProbeResult.MISSING


class Program:
    """Answers as a list says, and then no more questions."""

    def __init__(self, *answers: ProbeResult) -> None:
        self.left: Iterator[ProbeResult] = iter(answers)
        self.asked: list[float] = []
        self.all_asked = asyncio.Event()

    async def ask(self, seconds: float) -> ProbeResult:
        try:
            answer = next(self.left)
        except StopIteration:
            self.all_asked.set()
            await asyncio.Event().wait()
            raise
        self.asked.append(seconds)
        return answer


@pytest.fixture
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


@pytest.mark.usefixtures("no_pause")
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
    answers: tuple[ProbeResult, ...], hung: bool
) -> None:
    assert await hangs(Program(*answers)) is hung


@pytest.mark.usefixtures("no_pause")
async def test_one_that_froze_right_after_it_was_ready_hangs_though_it_never_answered() -> None:
    assert await hangs(Program(MISSING, MISSING, MISSING), ready=True)


@pytest.mark.usefixtures("no_pause")
@pytest.mark.parametrize(("limit", "questions", "seconds"), [(3, 3, 1), (15, 3, 5), (60, 12, 5)])
async def test_the_questions_together_take_as_long_as_it_may_be_silent(
    limit: float, questions: int, seconds: float
) -> None:
    program = Program(GIVEN, *(MISSING,) * questions)
    assert await hangs(program, limit)
    assert program.asked == [seconds] * (questions + 1)


@pytest.mark.usefixtures("no_pause")
async def test_without_a_limit_nothing_is_asked() -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(HangWatch(Program().ask, 0).hung(ready=True), 0.01)


@pytest.mark.usefixtures("no_pause")
@pytest.mark.parametrize(("value", "seconds"), [(None, 15.0), ("0", 0.0), ("3000", 3.0)])
def test_the_limit_is_a_worker_property(value: str | None, seconds: float) -> None:
    assert hang_timeout_seconds({} if value is None else {"service.hang.timeout.ms": value}) == seconds


@pytest.mark.usefixtures("no_pause")
@pytest.mark.parametrize("value", ["-1", "1", "2999", "soon"])
def test_a_limit_that_a_busy_machine_exceeds_is_refused(value: str) -> None:
    with pytest.raises(ConfigError, match=r"service\.hang\.timeout\.ms"):
        hang_timeout_seconds({"service.hang.timeout.ms": value})
