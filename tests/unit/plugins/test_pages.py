"""The pages of the connectors say what their specs say."""

from __future__ import annotations

from copycat_plugins.pages import pages


def test_every_page_is_up_to_date() -> None:
    written = {file.parent.name: file.read_text("utf-8") for file, _ in pages()}
    assert written == {file.parent.name: text for file, text in pages()}
    assert {"file_stream_source", "file_stream_sink"} <= written.keys()
