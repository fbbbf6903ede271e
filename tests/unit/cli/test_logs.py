"""`copycat logs`: what the services of `copycat up` wrote."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run


def line(second: int, service: str, message: str, level: str = "INFO", **fields: object) -> str:
    time = f"2026-01-31T10:00:{second:02}.000+00:00"
    return json.dumps(
        {"time": time, "level": level, "service": service, "logger": "l", "message": message, **fields}
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    logs = tmp_path / "data" / "logs"
    logs.mkdir(parents=True)
    (logs / "gateway.log").write_text(
        line(1, "gateway", "connector created", connector="orders", by="ann")
        + "\n"
        + line(4, "gateway", "connector deleted", connector="bills")
        + "\n"
    )
    failed = line(
        3, "executor", "task has failed", "ERROR", connector="orders", task=0, trace="Broken\n at x"
    )
    (logs / "executor.log").write_text(line(2, "executor", "worker joined") + "\n" + failed + "\n")
    return tmp_path / "data"


def test_the_logs_of_all_services_are_one_in_the_order_of_time(run: Run, data: Path) -> None:
    said = run("logs", "--data-dir", data).stdout.splitlines()

    assert said[0] == (
        "2026-01-31T10:00:01.000+00:00 INFO  gateway: connector created connector=orders by=ann"
    )
    assert [text.split(": ")[1].split(" connector=")[0] for text in said if text.startswith("2026")] == [
        "connector created",
        "worker joined",
        "task has failed",
        "connector deleted",
    ]
    assert said[3:5] == ["    Broken", "     at x"]


@pytest.mark.parametrize(
    ("options", "messages"),
    [
        (["--connector", "orders"], ["connector created", "task has failed"]),
        (["--level", "warn"], ["task has failed"]),
        (["--service", "gateway"], ["connector created", "connector deleted"]),
        (["-n", "1"], ["connector deleted"]),
        (["--connector", "orders", "-n", "1"], ["task has failed"]),
    ],
)
def test_lines_are_chosen_by_connector_level_service_and_number(
    run: Run, data: Path, options: list[str], messages: list[str]
) -> None:
    said = run("logs", "--data-dir", data, "-o", "json", *options).stdout.splitlines()

    assert [json.loads(each)["message"] for each in said] == messages


def test_what_is_no_log_line_of_ours_is_shown_where_it_stands(run: Run, data: Path) -> None:
    with (data / "logs" / "executor.log").open("a") as log:
        log.write("copycat executor: no Java\n")
    (data / "logs" / "kafka.log").write_text("[2025-01-31 10:00:00,123] ERROR no space left (Log)\n")

    said = run("logs", "--data-dir", data, "--level", "WARN", "-o", "json").stdout.splitlines()

    found = [(each["service"], each["level"], each["message"]) for each in map(json.loads, said)]
    assert found == [
        ("kafka", "ERROR", "no space left (Log)"),
        ("executor", "ERROR", "task has failed"),
        ("executor", "WARN", "copycat executor: no Java"),
    ]


def test_without_logs_it_says_where_they_are(run: Run, tmp_path: Path, data: Path) -> None:
    nothing = run("logs", "--data-dir", tmp_path / "elsewhere")
    unknown = run("logs", "--data-dir", data, "--service", "gatway")

    assert (nothing.exit_code, unknown.exit_code) == (3, 3)
    assert "--data-dir" in nothing.stderr
    assert "standard error" in nothing.stderr
    assert "there are those of executor, gateway" in unknown.stderr


def test_followed_logs_go_on_also_when_they_are_begun_anew(data: Path) -> None:
    log = data / "logs" / "gateway.log"
    command = [
        str(Path(sys.executable).with_name("copycat")),
        "logs",
        "--data-dir",
        str(data),
        "-f",
        "-n",
        "0",
    ]
    command += ["--service", "gateway", "-o", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        try:
            assert process.stdout is not None
            # It may not look yet: what is added again and again is seen from some moment on.
            heard = ""
            for second in range(600):
                with log.open("a") as writer:
                    writer.write(line(second % 60, "gateway", "noise " * 20) + "\n")
                os.set_blocking(process.stdout.fileno(), False)
                heard = process.stdout.readline()
                if heard:
                    break
                signal.sigtimedwait([], 0.1)
            assert "noise" in heard
            os.set_blocking(process.stdout.fileno(), True)
            log.write_text(line(59, "gateway", "anew") + "\n")
            while json.loads(heard)["message"] != "anew":
                heard = process.stdout.readline()
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
