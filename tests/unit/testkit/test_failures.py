"""What the report of a failed test says of a running system."""

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


def test_a_time_limit_that_ends_while_a_failure_is_reported_does_not_end_the_run(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(FAILS)

    result = pytester.runpytest_subprocess("-p", "copycat_testkit.failures", "-p", "no:cacheprovider")

    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*its own fault*", "*copycat up at http://127.0.0.1:*"])
