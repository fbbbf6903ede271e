"""SIGINT in processes that were started with SIGINT ignored, as a script's `command &` is."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from copycat_rpc.role import heed_interrupts

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
