"""Whether the disk on which an embedded broker keeps its data is full."""

from __future__ import annotations

import sys
from pathlib import Path

from copycat_embedded.broker import EmbeddedKafka


def test_a_full_disk_is_told_with_the_folder_that_lies_on_it(tmp_path: Path) -> None:
    said = EmbeddedKafka(tmp_path).full_disk(least=sys.maxsize)
    assert said.startswith(f"no space is left where its data lies ({tmp_path}: ")
    assert EmbeddedKafka(tmp_path).full_disk(least=0) == ""


def test_a_folder_that_is_not_there_yet_says_nothing(tmp_path: Path) -> None:
    assert EmbeddedKafka(tmp_path / "nowhere").full_disk(least=sys.maxsize) == ""
