"""Files: those that a configuration names, those made for their owner only, Java properties files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_connect.config.properties import parse_properties
from copycat_connect.errors import ConfigError
from copycat_connect.files import (
    NamedFileError,
    check_client_file,
    close_to_others,
    make_private,
    open_private,
    read_named_file,
)


def test_a_file_is_read_whole_up_to_the_limit(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 100)
    assert read_named_file(tmp_path / "file", 100) == b"x" * 100
    with pytest.raises(NamedFileError, match="it has more than 99 bytes"):
        read_named_file(tmp_path / "file", 99)


def test_what_a_file_holds_counts_and_not_what_it_says() -> None:
    # Files of /proc say that they are empty.
    assert b"Linux" in read_named_file("/proc/version")
    with pytest.raises(NamedFileError, match="it has more than 5 bytes"):
        read_named_file("/proc/version", 5)


@pytest.mark.timeout(60)
def test_devices_and_pipes_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", str(tmp_path / "pipe")):
        with pytest.raises(NamedFileError, match="it is no regular file"):
            read_named_file(path)
        with pytest.raises(ConfigError, match=f"ssl.truststore.location has '{path}'.*no regular file"):
            check_client_file("ssl.truststore.location", path)


def test_folders_and_missing_files_fail_as_for_everybody(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_named_file(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_named_file(tmp_path / "none")
    check_client_file("ssl.truststore.location", str(tmp_path / "none"))


@pytest.fixture
def careless_umask() -> Iterator[None]:
    """Of a user who shares everything by default."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("careless_umask")
def test_a_new_folder_and_its_missing_parents_are_private(tmp_path: Path) -> None:
    make_private(tmp_path / "a" / "b")

    assert (mode(tmp_path / "a"), mode(tmp_path / "a" / "b")) == (0o700, 0o700)


@pytest.mark.usefixtures("careless_umask")
def test_a_folder_that_was_open_is_closed_with_all_in_it(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("not ours")
    folder = tmp_path / "data"
    (folder / "deep").mkdir(parents=True)
    segment = folder / "deep" / "segment.log"
    segment.write_text("secrets")
    script = folder / "script"
    script.touch(0o755)
    (folder / "link").symlink_to(outside)

    make_private(folder)

    assert [mode(path) for path in (folder, folder / "deep", segment, script)] == [0o700, 0o700, 0o600, 0o700]
    assert mode(outside) == 0o666


@pytest.mark.usefixtures("careless_umask")
@pytest.mark.parametrize("existing", [False, True])
def test_a_file_is_private_from_the_moment_it_is_opened(tmp_path: Path, existing: bool) -> None:
    file = tmp_path / "log"
    if existing:
        file.write_text("before")

    with open(file, "ab", opener=open_private):
        assert mode(file) == 0o600


@pytest.mark.usefixtures("careless_umask")
def test_a_file_that_is_gone_needs_no_closing(tmp_path: Path) -> None:
    close_to_others(tmp_path / "gone")


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a=b", {"a": "b"}),
        ("a = b \n", {"a": "b "}),
        ("a:b\nc d", {"a": "b", "c": "d"}),
        ("# c\n! c\n\n a=1", {"a": "1"}),
        ("a=b\\\n   c", {"a": "bc"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a\\ b=c\\=d", {"a b": "c=d"}),
        ("a=\\u00e9\\t\\x", {"a": "é\tx"}),
        ("a", {"a": ""}),
        ("a=1\na=2", {"a": "2"}),
        ("a==b", {"a": "=b"}),
        ("a=b\r\nc=d\re=f", {"a": "b", "c": "d", "e": "f"}),
    ],
)
def test_a_properties_text_is_read_as_java_reads_it(text: str, pairs: dict[str, str]) -> None:
    assert parse_properties(text) == pairs


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("# first\na=1\npass\\=word=s3c\\u12ret\n", "the value of pass=word"),
        ("a=1\ns3c\\u12ret=1", "the key of entry 2"),
    ],
)
def test_a_broken_escape_is_refused_where_it_stands_without_its_text(text: str, where: str) -> None:
    with pytest.raises(ConfigError, match="Malformed") as refused:
        parse_properties(text)
    assert f"in {where}: " in refused.value.message
    assert "s3c" not in refused.value.message
