"""The broker as a program: its end is noticed when it comes, without asking again and again."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import cast

from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.guard import Guard
from copycat_launcher.broker_process import BrokerProcess


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
