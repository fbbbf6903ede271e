"""create and apply: the shapes of a file, what is sent, said and refused; what is to be moved here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from copycat_cli.connector_files import read_connector_file
from copycat_cli.errors import ConnectorFileError
from pytest_httpserver import HTTPServer

from tests.unit.cli.conftest import PROPERTIES, Run
from tests.unit.cli.fake_connect import FILE_SOURCE, FakeConnect


def a_file(folder: Path, text: str) -> Path:
    path = folder / "connector"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_request_carries_its_initial_state(tmp_path: Path) -> None:
    text = json.dumps({"name": "c", "config": {"tasks.max": "1"}, "initial_state": "PAUSED"})
    found = read_connector_file(a_file(tmp_path, text))
    assert (found.name, found.config, found.initial_state) == ("c", {"tasks.max": "1", "name": "c"}, "PAUSED")


def test_what_was_shown_about_a_connector_can_be_given_back(tmp_path: Path) -> None:
    text = json.dumps({"name": "c", "type": "sink", "config": {"a": "b"}, "tasks": [], "topics": None})
    assert read_connector_file(a_file(tmp_path, text)).config == {"a": "b", "name": "c"}


def test_a_flat_map_names_itself(tmp_path: Path) -> None:
    found = read_connector_file(a_file(tmp_path, '{"name": "c", "file": "ä"}'))
    assert (found.name, found.config, found.initial_state) == ("c", {"name": "c", "file": "ä"}, None)


def test_numbers_and_booleans_are_taken_as_they_were_written(tmp_path: Path) -> None:
    text = '{"name": "c", "tasks.max": 1, "rate": 1.50, "enabled": true}'
    expected = {"name": "c", "tasks.max": "1", "rate": "1.50", "enabled": "true"}
    assert read_connector_file(a_file(tmp_path, text)).config == expected


def test_properties_name_themselves(tmp_path: Path) -> None:
    found = read_connector_file(a_file(tmp_path, "name = c \nfile=C\\:\\\\x\n"))
    assert (found.name, found.config) == ("c", {"name": "c", "file": "C:\\x"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("file=x\n", "no connector name. Add the key name"),
        ('{"file": "x"}', "no connector name"),
        ('{"name": "c", "topics": ["a"]}', "the value of 'topics' is a list; a configuration is a flat map"),
        ('{"name": "c", "topics": null}', "the value of 'topics' is null"),
        (
            '{"name": "c", "config": {}, "inital_state": "PAUSED"}',
            "unknown field 'inital_state' beside config",
        ),
        (
            '{"name": "c", "config": {}, "initial_state": false}',
            "initial_state must be one of RUNNING, PAUSED, STOPPED",
        ),
        ('{"name": "c", "config": {}, "initial_state": "GONE"}', "initial_state must be one of"),
        ("[1]", "a connector's JSON is a map"),
        ("{", "not valid JSON"),
        ("a=\\u12", "not a properties file"),
    ],
)
def test_anything_else_is_refused_naming_the_file(tmp_path: Path, text: str, why: str) -> None:
    path = a_file(tmp_path, text)
    with pytest.raises(ConnectorFileError) as refused:
        read_connector_file(path)
    assert why in refused.value.message
    assert str(path) in refused.value.message


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "connector"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConnectorFileError, match="is not UTF-8 text"):
        read_connector_file(path)


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
    file.write_text(f"{PROPERTIES}task.max=2\nsome.thing.else=1\nerrors.deadletterqueue.topic=bad\n")
    done = run("apply", file)
    assert "did you mean errors.deadletterqueue.topic.name?" in done.stdout
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
