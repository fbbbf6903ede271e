"""Drivers of Spark are child processes of the executor: what they are given, how their end is reported."""

from __future__ import annotations

import asyncio
import json
import os
import queue
from pathlib import Path

import psutil
import pytest
from copycat_executor.spark.driver_launcher import DriverLauncher
from copycat_executor.taskhost.spec import HostSpec
from copycat_testkit.kafka import wait_until

SPEC = HostSpec("a:1/driver-1", "a:1", "token")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the file of the module that stands for a driver."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path / "played_driver.py"


def launched(properties: dict[str, str]) -> tuple[DriverLauncher, queue.Queue[tuple[str, str | None]]]:
    ends: queue.Queue[tuple[str, str | None]] = queue.Queue()
    launcher = DriverLauncher(properties, "played_driver")
    launcher.launch(SPEC, lambda host, reason: ends.put((host, reason)))
    return launcher, ends


def test_a_driver_gets_its_spec_and_the_properties_of_spark_alone(program: Path) -> None:
    given = program.with_name("given.json")
    program.write_text(f"import sys, pathlib\npathlib.Path({str(given)!r}).write_text(sys.stdin.read())\n")
    _, ends = launched({"spark.drivers.memory": "1g", "producer.sasl.password": "secret"})
    assert ends.get(timeout=60) == (SPEC.host_id, None)
    told = json.loads(given.read_text())
    assert HostSpec.from_json(told["spec"]) == SPEC
    assert told["properties"] == {"spark.drivers.memory": "1g"}


def test_the_end_of_a_driver_whose_heap_was_full_names_the_setting(program: Path) -> None:
    program.write_text("raise SystemExit(3)\n")
    _, ends = launched({})
    host, reason = ends.get(timeout=60)
    assert host == SPEC.host_id
    assert "spark.drivers.memory" in (reason or "")


def test_a_driver_is_ended_by_force(program: Path) -> None:
    program.write_text(
        "import os, pathlib, time\n"
        f"pathlib.Path({str(program.with_name('pid'))!r}).write_text(str(os.getpid()))\ntime.sleep(600)\n"
    )
    launcher, ends = launched({})
    file = program.with_name("pid")
    wait_until(lambda: file.is_file() and file.read_text(), 60, "it runs")
    pid = int(file.read_text())
    assert asyncio.run(launcher.kill_and_wait(SPEC.host_id, pid))
    host, reason = ends.get(timeout=60)
    assert (host, reason) == (SPEC.host_id, "its driver of Spark ended with exit code -9")
    assert not psutil.pid_exists(pid)
    assert pid != os.getpid()
