"""The pages say what their specs say."""

from __future__ import annotations

from pathlib import Path

from copycat_plugins.pages import pages


def test_every_page_is_up_to_date() -> None:
    written = {_name(file): file.read_text("utf-8") for file, _ in pages()}
    assert written == {_name(file): text for file, text in pages()}
    assert {"file_stream_source", "file_stream_sink", "python_function"} <= written.keys()


def _name(file: Path) -> str:
    return file.parent.name if file.stem == "README" else file.stem
