"""A fake executor and real hosts in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.host.fake_executor import FakeExecutor

HostProcess = subprocess.Popen[str]
Launch = Callable[[str], HostProcess]


@pytest.fixture
def executor(kafka: str) -> Iterator[FakeExecutor]:
    """Serve HostService."""
    server = FakeExecutor(kafka)
    yield server
    server.vanish()


@pytest.fixture
def launch(executor: FakeExecutor) -> Iterator[Launch]:
    """Launch hosts as plain processes; whatever still runs is killed at the end."""
    running: list[HostProcess] = []

    def start(host_id: str) -> HostProcess:
        process = subprocess.Popen(
            [sys.executable, "-m", "copycat_executor.taskhost", "-"],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent / "author")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        process.stdin.write(executor.spec(host_id).to_json())
        process.stdin.close()
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
