"""When programs are started, started again and stopped.

A role that is kept: what ends it, and what does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest
from copycat_connect.errors import ConfigError, CopycatError
from copycat_connect.retry import RetryPolicy
from copycat_launcher.errors import StartError
from copycat_launcher.in_process import KeptRole
from copycat_launcher.roles import CONFIG
from copycat_launcher.supervisor import Supervisor
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
