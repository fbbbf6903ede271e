"""A role as a real child process: its log, its end, an interrupt, and what it leaves behind."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import psutil
import pytest
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.guard import Guard
from copycat_launcher.broker_process import BrokerProcess
from copycat_launcher.hang_watch import HangWatch, ProbeResult
from copycat_launcher.polling import until
from copycat_launcher.role_process import RoleProcess
from copycat_rpc.role import heed_interrupts


def unwatched() -> HangWatch:
    """Return a watch that asks nothing."""

    async def ask(seconds: float) -> ProbeResult:
        raise AssertionError(seconds)

    return HangWatch(ask, 0)


DRAINS = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
print("up", flush=True)
signal.sigwait({signal.SIGTERM})
print("drained", flush=True)
"""
HAS_A_CHILD = """
import subprocess, sys
print(subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"]).pid, flush=True)
sys.stdin.read()
__import__("signal").pause()
"""
REFUSES = """
import sys
print("Traceback of something", file=sys.stderr)
print("copycat config: config.listen is wrong", file=sys.stderr)
print("and more noise", file=sys.stderr)
sys.exit(1)
"""


@pytest.fixture
def guard() -> Iterator[Guard]:
    with Guard() as watching:
        yield watching


def a_role(script: str, guard: Guard, log: Path | None, says: str = "\n") -> RoleProcess:
    def has_said() -> bool:
        return log is not None and says in log.read_text()

    async def has_said_so() -> bool:
        return await asyncio.to_thread(has_said)

    return RoleProcess(
        "config",
        ("-c", script),
        guard=guard,
        until_ready=lambda: until(has_said_so),
        watch=unwatched(),
        log_file=log,
    )


async def test_a_stop_lets_it_drain(guard: Guard, tmp_path: Path) -> None:
    role = a_role(DRAINS, guard, tmp_path / "config.log", says="up")
    await role.start()
    await asyncio.wait_for(role.ready(), 20)
    await role.stop()
    assert (tmp_path / "config.log").read_text() == "up\ndrained\n"


async def test_a_second_start_continues_the_log(guard: Guard, tmp_path: Path) -> None:
    log = tmp_path / "config.log"
    log.write_text("before\n")
    role = a_role("print('after')", guard, log)
    await role.start()
    assert await asyncio.wait_for(role.ended(), 20) == "code 0"
    assert log.read_text() == "before\nafter\n"


async def test_how_it_ended_is_told(guard: Guard, tmp_path: Path) -> None:
    role = a_role("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", guard, tmp_path / "config.log")
    await role.start()
    assert await asyncio.wait_for(role.ended(), 20) == f"killed by {signal.SIGKILL.name}"


async def test_what_a_killed_role_left_running_is_ended(guard: Guard, tmp_path: Path) -> None:
    log = tmp_path / "config.log"
    role = a_role(HAS_A_CHILD, guard, log)
    await role.start()
    await asyncio.wait_for(role.ready(), 20)
    grandchild = psutil.Process(int(log.read_text()))
    await role.kill()
    grandchild.wait(10)
    assert not grandchild.is_running()


async def test_its_own_message_is_its_last_word(guard: Guard, tmp_path: Path) -> None:
    role = a_role(REFUSES, guard, tmp_path / "config.log")
    await role.start()
    await asyncio.wait_for(role.ended(), 20)
    assert role.last_words() == "copycat config: config.listen is wrong"


async def test_where_it_speaks_for_itself_that_is_said(guard: Guard) -> None:
    role = a_role(REFUSES, guard, None)
    await role.start()
    await asyncio.wait_for(role.ended(), 20)
    assert (role.last_words(), role.log) == ("its own words say why", "above")


async def test_stopping_what_never_started_does_nothing(guard: Guard, tmp_path: Path) -> None:
    await a_role(DRAINS, guard, tmp_path / "config.log").stop()


class Sleeper:
    """Stands where the broker does, with a process that can be killed at once."""

    log = Path("sleeper.log")

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        self.process = subprocess.Popen(["sleep", "600"])

    @property
    def process_id(self) -> int:
        return self.process.pid if self.process else 0

    def exit_code(self) -> int | None:
        return self.process.poll() if self.process else None

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def test_the_end_of_the_broker_is_told_when_it_comes() -> None:
    async def run() -> str:
        sleeper = Sleeper()
        with Guard() as guard:
            program = BrokerProcess(cast("EmbeddedKafka", sleeper), guard)
            await program.start()
            ended = asyncio.create_task(program.ended())
            await asyncio.wait((ended,), timeout=0.2)
            assert not ended.done()
            assert sleeper.process is not None
            sleeper.process.kill()
            return await asyncio.wait_for(ended, 60)

    assert "SIGKILL" in asyncio.run(run())


COMMAND = """
import asyncio
from copycat_launcher.run import Signals

async def main():
    signals = Signals()
    print("up", flush=True)
    await signals.drain.wait()
    print("drains", flush=True)

asyncio.run(main())
"""
ROLE = """
from copycat_rpc.role import run_role

async def serve(properties, stop):
    print("up", flush=True)
    await stop.wait()
    print("drains", flush=True)

run_role("config", serve, {"log.level": "OFF"})
"""
EMBEDDED = """
import threading
from copycat_launcher.embedded import Copycat

copycat = Copycat("orders")
copycat._thread = threading.Thread(target=threading.Event().wait, daemon=True)
copycat._thread.start()
threading.Timer(0.2, lambda: print("up", flush=True)).start()
try:
    copycat.join()
except KeyboardInterrupt:
    print("drains", flush=True)
"""
NEXT_CHILD = """
import subprocess, sys
from copycat_rpc.role import heed_interrupts

heed_interrupts()
child = (
    "import time\\nprint('up', flush=True)\\n"
    "try: time.sleep(60)\\nexcept KeyboardInterrupt: print('drains')"
)
process = subprocess.Popen([sys.executable, "-c", child])
try:
    process.wait()
except KeyboardInterrupt:
    process.send_signal(2)
    process.wait()
"""


@contextmanager
def started_by_a_script(program: str) -> Iterator[subprocess.Popen[str]]:
    """Run Python as a non-interactive shell runs `python ... &`."""
    shell = ["/bin/sh", "-c", 'trap "" INT; exec "$0" -c "$1"', sys.executable, program]
    with subprocess.Popen(shell, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    "program", [COMMAND, ROLE, EMBEDDED, NEXT_CHILD], ids=["up", "role", "join", "child"]
)
def test_an_interrupt_is_heeded_though_the_shell_ignored_it(program: str) -> None:
    with started_by_a_script(program) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "drains\n"
        assert process.wait(60) == 0


def test_a_command_that_another_thread_calls_leaves_an_ignored_sigint_alone() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with ThreadPoolExecutor(1) as another:
            another.submit(heed_interrupts).result()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
