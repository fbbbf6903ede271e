"""The pages say what their specs say."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat_connect.plugin import load_plugins

from tools.plugin_pages import pages


def test_every_page_is_up_to_date() -> None:
    written = {_name(file): file.read_text("utf-8") for file, _ in pages()}
    assert written == {_name(file): text for file, text in pages()}
    assert {"file_stream_source", "file_stream_sink", "python_function", "CONNECTORS"} <= written.keys()


@pytest.mark.row("K26-56")
def test_every_connector_says_what_it_promises_and_what_it_is_tested_against() -> None:
    ours = [
        each for each in load_plugins().all() if each.task_class_name and each.module.startswith("copycat_")
    ]
    assert len(ours) > 10
    silent = [
        each.class_name for each in ours if not (each.guarantees and each.tested_with and each.examples)
    ]
    assert not silent


def _name(file: Path) -> str:
    return file.parent.name if file.stem == "README" else file.stem
