"""What an executor and its processes log: changes, levels of the cluster, what author code writes."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psutil
import pytest
from copycat.config.v1 import config_service_pb2 as config_pb
from copycat.types.v1 import types_pb2
from copycat_telemetry.printing import BURST
from copycat_testkit.kafka import wait_until
from copycat_testkit.processes import command_line

from tests.contract.executor import world as worlds
from tests.contract.executor.fake_hosts import FakeHost
from tests.contract.executor.world import World

world = partial(worlds.world, connectors=False)


@pytest.fixture
def at_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="copycat_executor")


def lines(caplog: pytest.LogCaptureFixture, start: str = "task ") -> list[dict[str, Any]]:
    """The changes so far whose text starts so, each with its fields."""
    return [
        {"what": record.getMessage(), "level": record.levelname, **record.__dict__["fields"]}
        for record in caplog.records
        if record.getMessage().startswith(start) and "fields" in record.__dict__
    ]


@pytest.mark.usefixtures("at_info")
async def test_a_task_that_starts_pauses_and_fails_is_a_line_each(caplog: pytest.LogCaptureFixture) -> None:
    async with world() as it:
        generation = await it.run_task()
        host = it.launcher.of("orders-0")
        ref = host.started[-1].task
        host.state(ref, types_pb2.STATE_PAUSED)
        await it.status_is("PAUSED", "orders", 0)
        host.state(ref, types_pb2.STATE_FAILED, trace="copycat.Broken: no more\n\tat secret place")
        await it.status_is("FAILED", "orders", 0)
        found = [each for each in lines(caplog) if "task" in each and "host" not in each]

    about = {"connector": "orders", "task": 0, "worker": it.worker, "generation": generation}
    assert found == [
        {"what": "task is running", "level": "INFO", **about},
        {"what": "task is paused", "level": "INFO", **about},
        {"what": "task has failed", "level": "ERROR", **about, "why": "copycat.Broken: no more"},
    ]


@pytest.mark.usefixtures("at_info")
async def test_a_host_that_dies_is_a_warning_and_one_that_is_launched_a_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with world() as it:
        await it.run_task()
        first = it.launcher.of("orders-0")
        first.die("killed for the test")
        await it.until(lambda: it.launcher.of("orders-0") is not first)
        hosts = lines(caplog, "task host")

    assert [(each["what"], each["level"]) for each in hosts[:3]] == [
        ("task host launched", "INFO"),
        ("task host died", "WARNING"),
        ("task host launched", "INFO"),
    ]
    assert hosts[1]["why"] == "killed for the test"


AUTHOR = "some.author"
LEVELS = ("OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL")


@pytest.fixture
def untouched() -> Iterator[None]:
    """Loggers of the process are shared: leave no level behind."""
    yield
    logging.getLogger(AUTHOR).setLevel(logging.NOTSET)


def set_for_cluster(it: World, level: str) -> None:
    change = config_pb.SetLoggerLevelRequest(logger=AUTHOR, level=level)
    it.config.watch.send(config_pb.WatchConnectorsResponse(logger_level=change))


def levels_of(host: FakeHost) -> list[tuple[str, str]]:
    commands = [each.set_level for each in host.commands if each.HasField("set_level")]
    return [(each.logger, each.level) for each in commands]


@pytest.mark.usefixtures("untouched")
async def test_every_level_of_kafka_connect_reaches_the_hosts_by_its_own_name() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        for level in (*LEVELS, "nonsense", "WARN"):
            set_for_cluster(it, level)
        expected = [(AUTHOR, level) for level in (*LEVELS, "WARN")]
        await it.until(lambda: len(levels_of(host)) >= len(expected))
        assert levels_of(host) == expected


@pytest.mark.usefixtures("untouched")
async def test_a_host_that_starts_later_is_told_the_last_level_that_was_set() -> None:
    async with world() as it:
        await it.run_task()
        first = it.launcher.of("orders-0")
        set_for_cluster(it, "TRACE")
        set_for_cluster(it, "OFF")
        await it.until(lambda: len(levels_of(first)) == 2)
        first.die()
        await it.until(lambda: it.launcher.of("orders-0") is not first)
        await it.until(lambda: levels_of(it.launcher.of("orders-0")) == [(AUTHOR, "OFF")])


@pytest.mark.usefixtures("untouched")
async def test_the_executor_itself_follows_the_levels_it_passes_on() -> None:
    async with world() as it:
        await it.run_task()
        seen: list[int] = []
        for level in ("OFF", "TRACE"):
            set_for_cluster(it, level)
            await it.until(lambda: len(levels_of(it.launcher.of("orders-0"))) == len(seen) + 1)
            seen.append(logging.getLogger(AUTHOR).level)
        assert seen == [60, 5]


@pytest.mark.usefixtures("untouched")
async def test_the_query_engine_follows_the_levels_before_and_after_it_starts() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        seen: list[str] = []
        for level in ("ERROR", "DEBUG"):
            set_for_cluster(it, level)
            await it.until(lambda: len(levels_of(host)) == len(seen) + 1)
            seen.append(await it.queries.prepare(f"level {AUTHOR}", ""))
        assert seen == ["ERROR", "DEBUG"]


SECONDS = 60
SECRET = "correct horse battery"
PLACEHOLDER = "${vault:word}"
BEGIN = f"""
import ctypes, faulthandler, logging, os, signal, subprocess, sys, threading, time, warnings
from copycat_connect.config.secrets import Secrets
from copycat_telemetry.context import about
from copycat_telemetry.logs import configure_logging
from copycat_telemetry.output import take_output
from copycat_telemetry.printing import limit_printing
output = take_output("host", host="host-1")
configure_logging("host", "INFO", output.stderr)
limit_printing(output.stdout, output.stderr)
SECRET = {SECRET!r}
Secrets.of({{SECRET: {PLACEHOLDER!r}}}).hide()
output.about(["orders", "orders"])
def fail():
    raise ValueError(SECRET)
def fail_badly():
    raise KeyboardInterrupt(SECRET)
class Finalized:
    def __del__(self):
        fail()
"""
IN_A_TASK = 'with about(connector="orders", task="0"):\n'


def run(program: str) -> tuple[list[dict[str, str]], str]:
    """Run a program to its end, and to that of all that hold its output; returns what it wrote as lines."""
    ended = subprocess.run(
        (sys.executable, "-c", BEGIN + program), capture_output=True, timeout=SECONDS, check=False
    )
    assert ended.stdout == b""
    return [json.loads(line) for line in ended.stderr.splitlines()], ended.stderr.decode()


LEAKS = {
    "a thread": "thread = threading.Thread(target=fail); thread.start(); thread.join()",
    "a thread, badly": "thread = threading.Thread(target=fail_badly); thread.start(); thread.join()",
    "a log line of a thread": "t = threading.Thread(target=logging.getLogger('x').error, args=(SECRET,));"
    " t.start(); t.join()",
    "a warning": "warnings.warn(SECRET)",
    "a finalizer": "Finalized()",
    "print": "print('got', SECRET, end='.'); print()",
    "stderr": "sys.stderr.write(f'{SECRET}\\n')",
    "a stream of its own": "logging.getLogger('x').addHandler(logging.StreamHandler(sys.__stderr__));"
    " logging.getLogger('x').error(SECRET)",
    "the former stream": "sys.__stdout__.write(f'{SECRET}\\n'); sys.__stdout__.flush()",
    "bytes": "sys.stdout.buffer.write(SECRET.encode()); sys.stdout.buffer.flush(); print(SECRET)",
    "a descriptor": "os.write(1, SECRET[:9].encode()); os.write(1, SECRET[9:].encode() + b'\\n')",
    "C": "libc = ctypes.CDLL(None); libc.puts(SECRET.encode()); libc.fflush(None)",
    "a child process": "subprocess.run(['sh', '-c', 'printf correct; sleep .1; echo \" horse battery\"'])",
    "base64": "import base64; print(base64.b64encode(b'me:' + SECRET.encode()).decode(), SECRET)",
}


@pytest.mark.parametrize("leak", LEAKS.values(), ids=LEAKS)
def test_a_secret_is_shown_as_its_placeholder_and_the_line_names_the_connector(leak: str) -> None:
    lines, text = run(f"{IN_A_TASK}    {leak}")

    assert "battery" not in text
    assert PLACEHOLDER in text
    assert {line["connector"] for line in lines} == {"orders"}
    assert {line["service"] for line in lines} == {"host"}


ENDINGS = {
    "killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "exits": "os._exit(3)",
    "aborts": "faulthandler.enable(file=2); os.abort()",
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_the_last_words_of_a_process_come_through(ending: str) -> None:
    lines, text = run(f"os.write(2, b'x' * 60_000 + b'last words: ' + SECRET.encode())\n{ending}")

    assert f"last words: {PLACEHOLDER}" in "".join(line["message"] for line in lines)
    assert SECRET not in text
    assert {line["host"] for line in lines} == {"host-1"}
    if "abort" in ending:
        assert "Fatal Python error: Aborted" in text


def test_a_process_that_is_left_behind_is_read_to_its_end() -> None:
    child = f"sleep 1; echo {SECRET}"
    lines, _ = run(f"subprocess.Popen(['sh', '-c', {child!r}])\nos._exit(0)")

    assert [line["message"] for line in lines] == [PLACEHOLDER]


FLOODS = {
    "print": f"{IN_A_TASK}    for _ in range(3_000): print('x' * 9_999)",
    "a descriptor": "for _ in range(3_000): os.write(1, b'x' * 9_999 + b'\\n')",
    "no line ends": "for _ in range(3_000): os.write(1, b'x' * 10_000)",
    "a child process": "subprocess.run(['sh', '-c', 'yes flood | head -c 30000000'])",
    "log lines": f"{IN_A_TASK}    for n in range(3_000): logging.getLogger('x').info('%s', 'x' * 9_999)",
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_a_flood_is_bounded_and_the_log_says_how_much_is_missing(flood: str) -> None:
    lines, text = run(f"{flood}\nprint('all is well')\n")

    assert len(text) < 3 * BURST
    told = [line for line in lines if "print or log too much" in line["message"]]
    assert told
    assert {line.get("connector") for line in told} == {"orders"}
    if flood.startswith(IN_A_TASK):
        assert lines[-1]["message"] == "all is well", "others are not bounded for it"


def test_the_reader_is_named_in_lists_of_processes_and_ends_with_its_process() -> None:
    with subprocess.Popen((sys.executable, "-c", f"{BEGIN}\ninput()"), stdin=subprocess.PIPE) as process:
        reader = wait_until(lambda: _readers(process.pid), SECONDS, "a reader")[0]
        reader.terminate()  # whole groups of processes get that; it goes on
        assert process.stdin is not None
        process.stdin.write(b"\n")
    wait_until(_gone(reader), SECONDS, "the reader ended")


def _readers(pid: int) -> list[psutil.Process]:
    children = psutil.Process(pid).children()
    return [each for each in children if " ".join(command_line(each)).startswith("copycat-output of host")]


def _gone(process: psutil.Process) -> Callable[[], bool]:
    return lambda: not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
