"""The shapes of a connector file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from copycat_cli.connector_files import read_connector_file
from copycat_cli.errors import ConnectorFileError


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
