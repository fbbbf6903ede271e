"""The three shapes of a connector file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from copycat_launcher.connector_files import read_connector_file
from copycat_launcher.errors import ConnectorFileError


def a_file(folder: Path, text: str) -> Path:
    path = folder / "connector"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_request_carries_its_initial_state(tmp_path: Path) -> None:
    text = json.dumps({"name": "c", "config": {"tasks.max": "1"}, "initial_state": "PAUSED"})
    found = read_connector_file(a_file(tmp_path, text))
    assert (found.name, found.config, found.initial_state) == ("c", {"tasks.max": "1", "name": "c"}, "PAUSED")


def test_a_flat_map_names_itself(tmp_path: Path) -> None:
    found = read_connector_file(a_file(tmp_path, '{"name": "c", "file": "ä"}'))
    assert (found.name, found.config, found.initial_state) == ("c", {"name": "c", "file": "ä"}, None)


def test_properties_name_themselves(tmp_path: Path) -> None:
    found = read_connector_file(a_file(tmp_path, "name = c \nfile=C\\:\\\\x\n"))
    assert (found.name, found.config) == ("c", {"name": "c", "file": "C:\\x"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("file=x\n", "no connector name. Add the key name"),
        ('{"file": "x"}', "no connector name"),
        ('{"name": "c", "tasks.max": 1}', "map of texts"),
        ("[1]", "map of texts"),
    ],
)
def test_anything_else_is_refused_naming_the_file(tmp_path: Path, text: str, why: str) -> None:
    path = a_file(tmp_path, text)
    with pytest.raises(ConnectorFileError) as refused:
        read_connector_file(path)
    assert why in refused.value.message
    assert str(path) in refused.value.message
