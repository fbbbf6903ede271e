"""create and apply: what is sent, what is said, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import PROPERTIES, Run
from tests.unit.cli.fake_connect import FakeConnect

CONFIG = {
    "name": "lines",
    "connector.class": "FileStreamSource",
    "file": "/in.txt",
    "topic": "lines",
}


def test_applying_a_new_file_creates_its_connector(run: Run, connect: FakeConnect, file: Path) -> None:
    done = run("apply", file)
    assert (done.exit_code, done.stdout) == (0, "lines created\n")
    assert connect.changes == [("POST", "/connectors", {"name": "lines", "config": CONFIG})]
    assert "copycat status lines --wait-for RUNNING" in done.stderr


def test_applying_it_again_changes_nothing(run: Run, connect: FakeConnect, file: Path) -> None:
    run("apply", file)
    again = run("apply", file)
    assert (again.exit_code, again.stdout) == (0, "lines unchanged\n")
    assert len(connect.changes) == 1


def test_applying_a_changed_file_says_what_changed(run: Run, connect: FakeConnect, file: Path) -> None:
    run("apply", file)
    file.write_text(f"{PROPERTIES.replace('/in.txt', '/other.txt')}tasks.max=2\n")
    done = run("apply", file)
    assert done.stdout.split("\n") == [
        "lines changed",
        "",
        "   KEY        BEFORE   NOW",
        "~  file       /in.txt  /other.txt",
        "+  tasks.max           2",
        "",
    ]
    assert connect.changes[-1][:2] == ("PUT", "/connectors/lines/config")


def test_changes_are_data_for_programs(run: Run, file: Path) -> None:
    run("apply", file)
    file.write_text(PROPERTIES.replace("topic=lines", "topic=others"))
    done = run("apply", file, "-o", "json")
    changes = [{"key": "topic", "before": "lines", "after": "others"}]
    assert json.loads(done.stdout) == [
        {"name": "lines", "result": "changed", "changes": changes, "notes": []}
    ]
    assert done.stderr == ""


def test_a_key_the_file_lacks_is_removed(run: Run, file: Path) -> None:
    run("apply", file)
    file.write_text(PROPERTIES.replace("file=/in.txt\n", ""))
    assert "-  file  /in.txt" in run("apply", file).stdout


def test_values_of_secret_keys_are_hidden(run: Run, file: Path) -> None:
    run("apply", file)
    file.write_text(f"{PROPERTIES}pin=1234\nclient.password=s3cret\nclient.token=${{file:/x:token}}\n")
    done = run("apply", file)
    assert "1234" not in done.output
    assert "s3cret" not in done.output
    assert done.stdout.count("[hidden]") == 2
    assert "${file:/x:token}" in done.stdout


def test_a_connector_comes_from_standard_input_as_the_interface_takes_it(
    run: Run, connect: FakeConnect
) -> None:
    text = json.dumps(
        {"name": "a/b c", "config": {**CONFIG, "name": "a/b c", "tasks.max": 2}, "initial_state": "STOPPED"}
    )
    assert run("create", "-", said=text).exit_code == 0
    [(_, _, body)] = connect.changes
    assert body["initial_state"] == "STOPPED"
    assert body["config"]["tasks.max"] == "2"


def test_a_name_is_quoted_in_paths(run: Run, connect: FakeConnect) -> None:
    connect.add("a/b c")
    assert run("pause", "a/b c").exit_code == 0
    assert connect.changes == [("PUT", "/connectors/a%2Fb%20c/pause", None)]


def test_creating_what_exists_is_refused(run: Run, connect: FakeConnect, file: Path) -> None:
    connect.add("lines")
    done = run("create", file)
    assert done.exit_code == 4
    assert "Connector lines already exists" in done.stderr
    assert f"copycat apply {file}" in done.stderr


def test_an_invalid_configuration_is_refused_key_by_key(run: Run, connect: FakeConnect, file: Path) -> None:
    file.write_text("name=lines\nconnector.class=FileStreamSource\ntasks.max=many\ntopci=lines\n")
    done = run("apply", file)
    assert done.exit_code == 4
    assert '  topic: Missing required configuration "topic".' in done.stderr
    assert "  tasks.max: Invalid value many" in done.stderr
    assert "  note: topci is no key of FileStreamSource and is ignored; did you mean topic?" in done.stderr
    assert "copycat plugins FileStreamSource" in done.stderr
    assert connect.changes == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("connector.class=FileStreamSorce", "did you mean FileStreamSource"),
        ("connector.class=Zzz", "copycat plugins lists those there are"),
        ("", "missing; the connectors here are FileStreamSink, FileStreamSource"),
    ],
)
def test_an_unknown_class_is_refused_with_those_there_are(run: Run, file: Path, line: str, why: str) -> None:
    file.write_text(PROPERTIES.replace("connector.class=FileStreamSource", line))
    done = run("apply", file)
    assert done.exit_code == 4
    assert why in done.stderr


def test_a_key_that_looks_mistyped_is_noted(run: Run, file: Path) -> None:
    file.write_text(f"{PROPERTIES}task.max=2\nsome.thing.else=1\n")
    done = run("apply", file)
    assert (
        "note: task.max is no key of FileStreamSource and is ignored; did you mean tasks.max?" in done.stdout
    )
    assert "some.thing.else" not in done.stdout


def test_nothing_is_sent_when_one_of_the_files_is_broken(run: Run, connect: FakeConnect, file: Path) -> None:
    broken = file.with_name("broken.json")
    broken.write_text("{")
    done = run("apply", file, broken)
    assert done.exit_code == 2
    assert "broken.json is not valid JSON" in done.stderr
    assert connect.changes == []


def test_what_was_done_before_a_refusal_is_told(run: Run, connect: FakeConnect, file: Path) -> None:
    other = file.with_name("other.properties")
    other.write_text("name=other\nconnector.class=FileStreamSource\n")
    done = run("apply", file, other)
    assert (done.exit_code, done.stdout) == (4, "lines created\n")
    assert "The configuration of other is invalid" in done.stderr
    assert list(connect.connectors) == ["lines"]
