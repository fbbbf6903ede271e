"""Properties files: what is written is what a reader finds."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_launcher.properties import write_properties
from copycat_rpc.role import read_properties
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.full_disk import room_for

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


@pytest.fixture
def lax_umask() -> Iterator[None]:
    """Narrow nothing for whoever creates a file."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("lax_umask")
@pytest.mark.parametrize("left", [(), ("worker.properties",), ("worker.properties.half",)])
def test_none_but_the_owner_may_read_what_is_written(tmp_path: Path, left: tuple[str, ...]) -> None:
    for name in left:
        (tmp_path / name).write_text("wider")
        (tmp_path / name).chmod(0o666)
    file = tmp_path / "worker.properties"
    write_properties(file, {"password": "secret"})
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


@pytest.mark.usefixtures("lax_umask")
def test_nobody_who_opened_a_wider_file_before_reads_what_is_written(tmp_path: Path) -> None:
    file = tmp_path / "worker.properties"
    half = tmp_path / "worker.properties.half"
    half.write_text("")
    with half.open() as before:
        write_properties(file, {"password": "secret"})
        assert before.read() == ""


def test_a_disk_that_is_full_leaves_the_file_as_it_was_and_no_other(tmp_path: Path) -> None:
    file = tmp_path / "worker.properties"
    write_properties(file, {"a": "1"})
    before = file.read_bytes()
    for room in range(len(before)):
        with room_for(room), pytest.raises(OSError, match="File too large"):
            write_properties(file, {"a": "2"})
        assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [(file.name, before)]
