"""What a process with author code writes, whichever way: with its label, without secrets, and bounded."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import psutil
import pytest
from copycat_telemetry.printing import BURST
from copycat_testkit.kafka import wait_until
from copycat_testkit.processes import command_line

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
