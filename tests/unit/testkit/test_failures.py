"""Tests that fail: what the report says of a running system, and the second try of some."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from copycat_testkit.failures import described
from copycat_testkit.system import CopycatUp

pytest_plugins = ["pytester"]

STATUS = {
    "connector": {"state": "RUNNING", "worker_id": "w"},
    "tasks": [{"id": 0, "state": "RUNNING", "reason": "waits for records"}],
}


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"lines": {"status": STATUS}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        del args


def _logs(folder: Path) -> None:
    (folder / "logs").mkdir()
    lines = [
        json.dumps(
            {"time": "2026-01-01T00:00:02", "level": "WARN", "message": "task host died", "why": "w" * 999}
        ),
        json.dumps({"time": "2026-01-01T00:00:03", "level": "INFO", "message": "task host launched"}),
        "a line of some other program",
    ]
    (folder / "logs" / "executor.log").write_text("\n".join(lines))
    earlier = {"time": "2026-01-01T00:00:01", "level": "ERROR", "message": "no answer"}
    (folder / "logs" / "gateway.log").write_text(json.dumps(earlier))


def test_states_and_the_last_troubles_of_all_services_are_told_in_their_order(tmp_path: Path) -> None:
    _logs(tmp_path)
    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        lines = described(CopycatUp(tmp_path, port=server.server_port)).splitlines()
        server.shutdown()

    assert lines[0].startswith("lines: {'state': 'RUNNING'")
    assert "RUNNING waits for records" in lines[0]
    assert [line.split(" ", 2)[1] for line in lines[1:]] == ["gateway", "executor"]
    assert "no answer" in lines[1]
    assert "task host died" in lines[2]
    assert max(map(len, lines)) <= 400


def test_a_system_that_does_not_answer_shows_its_logs_alone(tmp_path: Path) -> None:
    _logs(tmp_path)

    lines = described(CopycatUp(tmp_path)).splitlines()

    assert lines[0].startswith("its statuses cannot be read: ConnectError")
    assert len(lines) == 3


#: Its system answers when the time limit of the test rings no more.
FAILS = """
import signal, threading, time
from http.server import BaseHTTPRequestHandler, HTTPServer
import pytest
from copycat_testkit import system

class Late(BaseHTTPRequestHandler):
    def do_GET(self):
        while signal.getitimer(signal.ITIMER_REAL)[0]:
            time.sleep(0.01)
        self.send_response(500)
        self.end_headers()

@pytest.mark.timeout(60)
def test_it(tmp_path):
    server = HTTPServer(("127.0.0.1", 0), Late)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    system._running.append(system.CopycatUp(tmp_path, port=server.server_port))
    assert False, "its own fault"

def test_the_next():
    pass
"""


@pytest.mark.long
def test_a_time_limit_that_ends_while_a_failure_is_reported_does_not_end_the_run(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(FAILS)

    result = pytester.runpytest_subprocess("-p", "copycat_testkit.failures", "-p", "no:cacheprovider")

    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*its own fault*", "*copycat up at http://127.0.0.1:*"])


INI = """
[pytest]
asyncio_default_fixture_loop_scope = function
second_try = real
addopts = -p copycat_testkit.second_try -p no:cacheprovider -p no:schemathesis -p no:faker
"""
#: A system of the module that the first try of a test breaks; a file says whether it was broken before.
TESTS = """
import pathlib
import pytest

HERE = pathlib.Path(__file__).parent

@pytest.fixture(scope="module")
def system():
    with (HERE / "starts").open("a") as starts:
        starts.write("x")
    yield {"broken": False}

def breaks(system, name):
    mark = HERE / name
    if not mark.exists():
        mark.touch()
        system["broken"] = True
    assert not system["broken"], "the system is broken"

def test_steady(system):
    assert not system["broken"]
"""
ONCE = "\ndef test_once_{number}(system):\n    breaks(system, 'once-{number}')\n"
ALWAYS = "\ndef test_always(system):\n    assert 1 == 2, 'it never holds'\n"


def run(
    pytester: pytest.Pytester, text: str, *options: str, folder: str = "real"
) -> tuple[pytest.RunResult, list[dict[str, Any]]]:
    """Run tests of a folder; returns what it said, and the last run of its record."""
    pytester.path.joinpath("pytest.ini").write_text(INI)
    file = pytester.path / folder / "test_it.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text(TESTS + text)
    # Processes of tests within a process of tests: xdist waits for ever where its own runs already.
    start = pytester.runpytest_subprocess if "-n" in options else pytester.runpytest_inprocess
    result = start(*options)
    record = pytester.path / "build/flaky.json"
    return result, json.loads(record.read_text())[-1]["tests"] if record.exists() else []


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["alone", "several processes"])
def test_what_fails_once_passes_in_the_end_and_both_outcomes_are_kept(
    pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    result, (kept,) = run(pytester, ONCE.format(number=1), *options)

    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=2)
    assert (kept["test"], kept["first"]["outcome"]) == ("real/test_it.py::test_once_1", "failed")
    assert "the system is broken" in kept["first"]["error"]
    assert kept["second"]["outcome"] == "passed"
    result.stdout.fnmatch_lines(
        [
            "*1 tests were run twice*",
            "real/test_it.py::test_once_1: first failed (call), then passed",
            "*the system is broken*",
            "*2 passed, 1 rerun*",
        ]
    )


def test_a_second_try_has_a_system_of_its_own_and_those_after_it_share_that(
    pytester: pytest.Pytester,
) -> None:
    later = "\ndef test_later(system):\n    assert not system['broken']\n"
    result, _ = run(pytester, ONCE.format(number=1) + later)

    result.assert_outcomes(passed=3)
    assert (pytester.path / "real/starts").read_text() == "xx"


def test_what_fails_twice_is_failed_and_both_failures_are_kept(pytester: pytest.Pytester) -> None:
    result, (kept,) = run(pytester, ALWAYS)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, failed=1)
    assert "it never holds" in kept["first"]["error"]
    assert "it never holds" in kept["second"]["error"]


@pytest.mark.parametrize(("number", "code"), [(2, pytest.ExitCode.OK), (3, pytest.ExitCode.TESTS_FAILED)])
def test_more_than_two_second_tries_fail_the_run(
    pytester: pytest.Pytester, number: int, code: pytest.ExitCode
) -> None:
    result, kept = run(pytester, "".join(ONCE.format(number=each) for each in range(number)))

    assert result.ret == code
    result.assert_outcomes(passed=number + 1)
    assert len(kept) == number
    assert ("a run bears 2" in result.stdout.str()) is (code != pytest.ExitCode.OK)


def test_tests_of_other_folders_have_no_second_try(pytester: pytest.Pytester) -> None:
    result, kept = run(pytester, ONCE.format(number=1), folder="rules")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, failed=1)
    assert kept == []


def test_folders_may_have_a_conftest_of_their_own(pytester: pytest.Pytester) -> None:
    other = pytester.path / "real" / "other"
    other.mkdir(parents=True)
    (other / "conftest.py").touch()
    (other / "test_other.py").write_text("def test_other():\n    pass\n")

    result, kept = run(pytester, ONCE.format(number=1))

    assert result.ret == pytest.ExitCode.OK, result.stdout.str()
    assert len(kept) == 1


def test_the_record_keeps_the_runs_before(pytester: pytest.Pytester) -> None:
    run(pytester, ALWAYS)
    pytester.runpytest_inprocess("-k", "always")

    runs = json.loads((pytester.path / "build/flaky.json").read_text())
    assert [each["arguments"] for each in runs][1][-2:] == ["-k", "always"]
    assert [len(each["tests"]) for each in runs] == [1, 1]
