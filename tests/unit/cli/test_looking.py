"""list, describe, status, workers, logs: what is shown in a pipe and on a terminal, with which exit code."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from copycat_cli.api.statuses import reason
from copycat_cli.output.blocks import Block, TableBlock, TextBlock
from copycat_cli.output.printer import plain
from copycat_cli.output.terminal import pretty
from copycat_rest.answers import ConnectorState
from rich.console import Console

from tests.unit.cli.conftest import Run
from tests.unit.cli.fake_connect import FakeConnect, Known

TRACE = "Traceback (most recent call last):\n  File x\nValueError: no such file: /in.txt"


def test_connectors_are_listed_as_aligned_text_in_a_pipe(run: Run, connect: FakeConnect) -> None:
    connect.add("lines", tasks=["RUNNING", "FAILED", "RUNNING"])
    connect.add("b", state="PAUSED", tasks=[])
    assert run("list").stdout.splitlines() == [
        "NAME   TYPE    STATE    TASKS                CLASS",
        "b      source  PAUSED   none                 FileStreamSource",
        "lines  source  RUNNING  1 FAILED, 2 RUNNING  FileStreamSource",
    ]


def test_an_empty_cluster_tells_how_to_begin(run: Run) -> None:
    done = run("list")
    assert (done.exit_code, done.stdout) == (0, "There are no connectors yet.\n")
    assert "copycat create --help" in done.stderr


def test_a_description_has_all_about_a_connector_but_its_passwords(run: Run, connect: FakeConnect) -> None:
    known = connect.add("lines", tasks=["FAILED"], trace=TRACE, topics=["lines"])
    known.config["db.password"] = "s3cret"
    done = run("describe", "lines")
    assert done.exit_code == 0
    for part in ("topics used: lines", "task 0     FAILED   w:1", "file             /in.txt", TRACE):
        assert part in done.stdout
    assert "s3cret" not in done.output
    assert "copycat edit lines" in done.stderr


@pytest.mark.parametrize(
    ("said", "state", "hint"),
    [
        ("resume -- -dash", "PAUSED", "copycat status --wait-for RUNNING -- -dash"),
        ("stop -- lines -dash", "RUNNING", "copycat resume -- lines -dash"),
        ("stop -- -dash", "RUNNING", "copycat offsets get -- -dash"),
        ("status -- -dash", "FAILED", "copycat restart --include-tasks --only-failed -- -dash"),
        ("offsets reset --yes -- -dash", "RUNNING", "copycat stop -- -dash"),
        ("resume lines", "PAUSED", "copycat status lines --wait-for RUNNING"),
    ],
)
def test_a_hint_can_be_typed_whatever_the_connector_is_called(
    run: Run, connect: FakeConnect, said: str, state: str, hint: str
) -> None:
    for name in ("-dash", "lines"):
        connect.add(name, state=state, tasks=[state])
    done = run(*said.split())
    assert hint in done.stderr.splitlines() or f"{hint} " in done.stderr or f"{hint}," in done.stderr, (
        done.stderr
    )


def test_a_description_for_programs_can_be_applied_again(run: Run, connect: FakeConnect) -> None:
    connect.add("lines")
    shown = run("describe", "lines", "-o", "json").stdout
    assert json.loads(shown)["status"]["tasks"] == [{"id": 0, "state": "RUNNING", "worker_id": "w:1"}]
    assert run("apply", "-", said=shown).stdout == "lines unchanged\n"


def test_what_does_not_move_is_shown_with_the_reason_and_since_when_it_is_so(
    run: Run, connect: FakeConnect
) -> None:
    connect.add("lines", hangs="put has not returned for 42 s")
    done = run("status", "lines")
    assert done.exit_code == 0
    assert "task 0     RUNNING  w:1     put has not returned for 42 s" in done.stdout
    assert "connector  RUNNING  w:1     degraded: 1 of 1 tasks not moving: task 0: put has" in done.stdout
    shown = run("describe", "lines").stdout
    assert "all of it  degraded" in shown
    assert "task 0     RUNNING          2026-01-02T03:04:05.678Z  put has not returned for 42 s" in shown


def test_additions_are_passed_on_to_programs(run: Run, connect: FakeConnect) -> None:
    known = connect.add("lines", hangs="put has not returned for 42 s")
    assert json.loads(run("status", "lines", "-o", "json").stdout) == [known.status("lines")]


def test_the_status_of_what_failed_ends_with_one_and_says_why(run: Run, connect: FakeConnect) -> None:
    connect.add("good")
    connect.add("lines", tasks=["FAILED"], trace=TRACE)
    done = run("status")
    assert done.exit_code == 1
    assert "lines      task 0     FAILED   w:1     ValueError: no such file: /in.txt" in done.stdout
    assert "copycat restart lines --include-tasks --only-failed" in done.stderr
    assert run("status", "good").exit_code == 0


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        (TRACE, "ValueError: no such file: /in.txt"),
        ("a.b.IOError: away\n\tat x.Y", "IOError: away"),
        (
            "a.Top: not sent\n\tat x\nCaused by: a.Mid: x\nCaused by: c.Root: no topic",
            "Top: not sent; caused by Root: no topic",
        ),
        ("no such host", "no such host"),
        ("", ""),
    ],
)
def test_the_reason_of_a_failure_is_its_error_and_its_cause(trace: str, expected: str) -> None:
    assert reason(ConnectorState("FAILED", "", trace=trace)) == expected


def test_an_unknown_connector_ends_with_three_and_names_like_it(run: Run, connect: FakeConnect) -> None:
    connect.add("lines")
    for words in (("status",), ("describe",), ("pause",), ("offsets", "get"), ("topics", "get"), ("edit",)):
        done = run(*words, "line")
        assert done.exit_code == 3, words
        assert "Connector line not found" in done.stderr
        assert "lines  is a connector with a similar name" in done.stderr


def test_a_connector_that_has_not_reported_yet_is_not_unknown(run: Run, connect: FakeConnect) -> None:
    connect.add("lines", state="UNASSIGNED", tasks=[])
    done = run("describe", "lines")
    assert done.exit_code == 0
    assert "copycat status lines --wait-for RUNNING" in done.stderr


def test_waiting_ends_once_the_connector_and_all_tasks_are_there(run: Run, connect: FakeConnect) -> None:
    connect.add("lines", state="UNASSIGNED", tasks=["UNASSIGNED"])

    def moves_on(known: Known) -> None:
        known.state, known.tasks = "RUNNING", ["RUNNING"] if known.state == "RUNNING" else ["UNASSIGNED"]

    connect.after_look = moves_on
    done = run("status", "lines", "--wait-for", "running")
    assert done.exit_code == 0
    assert done.stdout.count("RUNNING") == 2


def test_all_connectors_are_waited_for_where_none_is_named(run: Run, connect: FakeConnect) -> None:
    connect.add("lines", state="UNASSIGNED", tasks=["UNASSIGNED"])
    connect.add("orders")

    def starts(_: Known) -> None:
        connect.connectors["lines"] = Known(connect.connectors["lines"].config)

    connect.after_look = starts
    done = run("status", "--wait-for", "RUNNING")
    assert done.exit_code == 0
    assert done.stdout.count("RUNNING") == 4


def test_waiting_for_all_of_no_connectors_ends_at_once_and_says_so(run: Run) -> None:
    done = run("status", "--wait-for", "RUNNING")
    assert (done.exit_code, done.stdout) == (0, "There are no connectors yet.\n")


def test_waiting_for_a_connector_without_tasks_is_late(run: Run, connect: FakeConnect) -> None:
    connect.add("lines", tasks=[])
    done = run("status", "lines", "--wait-for", "RUNNING", "--timeout", "0.2")
    assert done.exit_code == 6
    assert "lines is RUNNING, no tasks: not RUNNING within 0.2 s" in done.stderr


def test_waiting_gives_up_on_what_stays_failed(run: Run, connect: FakeConnect) -> None:
    connect.add("lines", tasks=["FAILED"], trace=TRACE)
    done = run("status", "lines", "--wait-for", "RUNNING", "--timeout", "1")
    assert done.exit_code == 1
    assert "ValueError: no such file: /in.txt" in done.stderr
    assert run("status", "lines", "--wait-for", "FAILED").exit_code == 0


@pytest.mark.parametrize(
    "words",
    [("list",), ("status",), ("status", "--wait-for", "RUNNING", "--timeout", "0.2", "good", "lines")],
)
@pytest.mark.parametrize("state", ["RUNNING", "FAILED"])
def test_a_closer_look_is_offered_at_what_failed_only(
    run: Run, connect: FakeConnect, words: tuple[str, ...], state: str
) -> None:
    connect.add("good")
    connect.add("lines", tasks=[state])
    said = run(*words).stderr
    assert ("copycat describe lines" in said) == (state == "FAILED")
    assert "copycat describe good" not in said


def test_a_closer_look_is_offered_at_what_is_late_only(run: Run, connect: FakeConnect) -> None:
    connect.add("good")
    connect.add("lines", tasks=["UNASSIGNED"])
    done = run("status", "good", "lines", "--wait-for", "RUNNING", "--timeout", "0.2")
    assert done.exit_code == 6
    assert "copycat describe lines" in done.stderr
    assert "copycat describe good" not in done.stderr


def test_watching_in_a_pipe_prints_each_change(run: Run, connect: FakeConnect) -> None:
    connect.add("lines", state="UNASSIGNED", tasks=[])
    looks = 0

    def ends(known: Known) -> None:
        nonlocal looks
        looks += 1
        known.state = "RUNNING"
        if looks == 4:
            connect.refusal = (503, {"error_code": 503, "message": "going away"})

    connect.after_look = ends
    done = run("status", "lines", "--watch", "--interval", "0.1")
    assert ["UNASSIGNED" in shown for shown in done.stdout.split("CONNECTOR")[1:]] == [True, False]
    assert done.exit_code == 7


@pytest.mark.parametrize(
    "words",
    [
        ("--watch", "--wait-for", "RUNNING", "lines"),
        ("--wait-for", "GONE", "lines"),
    ],
)
def test_what_cannot_be_waited_for_is_wrong_usage(run: Run, words: tuple[str, ...]) -> None:
    assert run("status", *words).exit_code == 2


def test_workers_are_listed_with_what_they_run(run: Run, connect: FakeConnect) -> None:
    assert run("workers").stdout.splitlines() == ["WORKER  STATE  RUNS", "w:1     live   lines task 0"]
    connect.workers = None
    done = run("workers")
    assert done.exit_code == 3
    assert "copycat status shows the workers" in done.stderr


STATES = TableBlock(("NAME", "STATE"), [("a", "RUNNING"), ("[b]", "1 FAILED, 2 RUNNING")], "States")


def on_terminal(*blocks: Block) -> str:
    shown = io.StringIO()
    Console(file=shown, force_terminal=True, width=60, color_system="standard").print(pretty(blocks))
    return shown.getvalue()


def test_a_row_of_a_pipe_is_one_line_whatever_is_in_it() -> None:
    assert plain([TableBlock(("K", "V"), [("key", "one\ntwo  three\t"), ("k", "")])]) == (
        "K    V\nkey  one\\ntwo  three\\t\nk"
    )


def test_blocks_of_a_pipe_are_parted_by_one_blank_line() -> None:
    assert (
        plain([TextBlock(["a"], "A"), TextBlock([]), TableBlock(("K",), [], empty="none")]) == "A\na\n\nnone"
    )


def test_states_of_a_terminal_are_coloured_by_the_worst_of_them() -> None:
    shown = on_terminal(STATES)
    assert "\x1b[32mRUNNING" in shown
    assert "\x1b[1;31m1 FAILED, 2 RUNNING" in shown


def test_what_looks_like_markup_is_shown_as_it_is() -> None:
    assert "[b]" in on_terminal(STATES)
    assert "[red]" in on_terminal(TextBlock(["[red]x"], "[red]"))


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
