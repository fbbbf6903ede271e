"""Files that a configuration names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from copycat_connect.errors import ConfigError
from copycat_connect.files import NamedFileError, check_client_file, read_named_file


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
