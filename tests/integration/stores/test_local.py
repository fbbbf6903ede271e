"""A folder as a store."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from copycat_connect.errors import ConfigError, ConnectError
from copycat_objects.stores.errors import StoreAwayError, StoreRefusedError
from copycat_objects.stores.opening import open_store

from tests.integration.stores.store_suite import StoreSuite, put
from tests.unit.full_disk import room_for


class TestLocalStore(StoreSuite):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Mapping[str, str | int]:
        return {"store.url": f"file://{tmp_path}/root"}


def test_a_full_disk_is_named_with_its_key_and_nothing_counts_as_written(tmp_path: Path) -> None:
    store = open_store({}, f"file://{tmp_path}")
    made = store.create("file")
    with room_for(1000), pytest.raises(StoreRefusedError, match=r"full: make room there.*'store.url'"):
        made.write(b"x" * 2000)
    with pytest.raises(StoreAwayError):
        made.close()
    made.abort()
    assert list(store.list()) == []


def test_a_rename_that_a_crash_cut_in_two_is_ended_by_the_next(tmp_path: Path) -> None:
    store = open_store({}, str(tmp_path))
    put(store, "tmp/a", b"a")
    (tmp_path / "final").mkdir()
    os.link(tmp_path / "tmp/a", tmp_path / "final/a")
    store.rename("tmp/a", "final/a")
    assert [file.path for file in store.list()] == ["final/a"]


def test_a_path_never_leaves_the_root(tmp_path: Path) -> None:
    store = open_store({}, str(tmp_path / "root"))
    (tmp_path / "secret").write_text("x")
    for path in ("../secret", "a/../../secret", "/etc/passwd", "", "a//b", "."):
        with pytest.raises(ConnectError, match="Not a path of a file in a store"):
            store.open(path)


def test_a_folder_that_cannot_be_made_is_refused_by_its_key() -> None:
    with pytest.raises(StoreRefusedError, match=r"look at the folder that 'store\.url' names"):
        open_store({}, "/dev/null/folder").create("file")


def test_a_folder_without_rights_is_named_with_the_remedy(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    program = (
        "from copycat_objects.stores.opening import open_store\n"
        "import os\n"
        "if os.geteuid() == 0: os.setuid(65534)\n"
        f"open_store({{}}, {str(tmp_path)!r}).create('x')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "let this user read and write there, or name another folder in 'store.url'" in done.stderr


@pytest.mark.parametrize(
    "url", ["ftp://host/x", "relative/folder", "hdfs:///x", "hdfs://host:nine/x", "file://elsewhere/x", ""]
)
def test_other_addresses_are_refused_with_those_that_are_known(url: str) -> None:
    with pytest.raises(
        ConfigError, match=r"Invalid value for configuration store\.url: expected file:///folder"
    ):
        open_store({}, url)


def test_a_password_in_an_address_is_refused_and_not_shown() -> None:
    with pytest.raises(ConfigError, match="an address holds no password") as refused:
        open_store({}, "hdfs://me:s3cret@host:9000/x")
    assert "s3cret" not in str(refused.value)
