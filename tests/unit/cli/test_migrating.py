"""`copycat migrate check` over REST: its verdict, its exit code, and nothing secret."""

from __future__ import annotations

import json

from pytest_httpserver import HTTPServer

from tests.unit.cli.conftest import Run
from tests.unit.cli.fake_connect import FILE_SOURCE, FakeConnect

SINK = {
    "name": "copy",
    "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
    "topics": "lines",
    "file": "/out.txt",
}


def test_a_cluster_whose_connectors_all_run_ends_with_zero(
    run: Run, connect: FakeConnect, httpserver: HTTPServer
) -> None:
    connect.add("copy", config=SINK)
    done = run("migrate", "check", "--connect-url", httpserver.url_for(""))
    assert done.exit_code == 0, done.output
    assert "1 run as they are" in done.stdout


def test_differences_and_missing_things_end_with_one(
    run: Run, connect: FakeConnect, httpserver: HTTPServer
) -> None:
    connect.add("copy", config=SINK)
    connect.add("lines", config={"name": "lines", "connector.class": FILE_SOURCE, "topic": "t", "file": "/f"})
    connect.connectors["lines"].offsets = [{"partition": {"filename": "/f"}, "offset": {"position": 3}}]
    connect.add(
        "orders", config={"name": "orders", "connector.class": "com.example.Orders", "password": "pw"}
    )
    done = run("migrate", "check", "--connect-url", httpserver.url_for(""), "-o", "json")
    assert done.exit_code == 1, done.output
    told = json.loads(done.stdout)
    assert {each["name"]: each["verdict"] for each in told["connectors"]} == {
        "copy": "runs",
        "lines": "differs",
        "orders": "missing",
    }
    assert told["verdict"] == "missing"
    assert told["counts"] == {"runs": 1, "differs": 1, "refused": 0, "missing": 1}
    assert not connect.changes


def test_a_cluster_that_cannot_be_read_ends_with_two(run: Run) -> None:
    for words in (("--connect-url", "http://127.0.0.1:1"), ()):
        done = run("migrate", "check", *words)
        assert done.exit_code == 2
        assert "copycat migrate check: " in done.stderr


def test_a_password_in_the_url_is_not_shown(run: Run) -> None:
    done = run("migrate", "check", "--connect-url", "http://me:s3cret@127.0.0.1:1")
    assert "s3cret" not in done.output
