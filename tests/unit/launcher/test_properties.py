"""Properties files: what is written is what a reader finds."""

from __future__ import annotations

from pathlib import Path

from copycat_launcher.properties import write_properties
from copycat_rpc.role import read_properties
from hypothesis import given
from hypothesis import strategies as st

TEXTS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=20)


@given(st.dictionaries(TEXTS.filter(bool), TEXTS.map(lambda text: f"\\ {text}\n\t")))
def test_whatever_is_written_is_read_back(tmp_path_factory: object, properties: dict[str, str]) -> None:
    file = Path(str(tmp_path_factory.mktemp("properties"))) / "worker.properties"  # type: ignore[attr-defined]
    write_properties(file, properties, "two\nlines")
    assert read_properties(file) == properties


def test_java_escapes_are_understood(tmp_path: Path) -> None:
    file = tmp_path / "c.properties"
    file.write_text("! note\nname : s\\u00fcd\npath=C\\:\\\\logs\\\n   \\\\today\nempty\nlist=a,\\\n  b\n")
    assert read_properties(file) == {"name": "süd", "path": "C:\\logs\\today", "empty": "", "list": "a,b"}
