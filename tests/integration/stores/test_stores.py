"""Files as stores: in a folder, and in HDFS with a real NameNode and a real DataNode."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from copycat_connect.errors import ConfigError, ConnectError
from copycat_objects.stores import webhdfs
from copycat_objects.stores.errors import StoreAwayError, StoreRefusedError
from copycat_objects.stores.opening import open_store
from copycat_testkit.hdfs import USER, Hdfs
from copycat_testkit.kafka import unique, wait_until

from tests.integration.stores.store_suite import StoreSuite, put, put_again
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


def place_in(hdfs: Hdfs, user: str = USER) -> dict[str, Any]:
    return {"store.url": f"{hdfs.url}/{unique('root')}", "webhdfs.url": hdfs.web_url, "hdfs.user": user}


@pytest.mark.timeout(300)
@pytest.mark.long
class TestHdfsStore(StoreSuite):
    @pytest.fixture
    def place(self, hdfs: Hdfs) -> Mapping[str, str | int]:
        return {**place_in(hdfs), "part": webhdfs.PART_BYTES}


@pytest.mark.timeout(300)
@pytest.mark.long
def test_the_address_of_webhdfs_itself_will_do(hdfs: Hdfs) -> None:
    url = hdfs.web_url.replace("http://", f"webhdfs://{USER}@") + f"/{unique('root')}"
    store = open_store({}, url)
    put(store, "a", b"1")
    assert store.read("a", 0, 1) == b"1"
    assert store.name == url.replace(f"{USER}@", "")


@pytest.mark.timeout(300)
@pytest.mark.long
def test_a_user_without_rights_is_refused_by_key(hdfs: Hdfs) -> None:
    store = open_store({**place_in(hdfs, "nobody")}, f"{hdfs.url}/theirs")
    with pytest.raises(
        StoreRefusedError, match=r"Permission denied: user=nobody.*name another in 'hdfs\.user'"
    ):
        put(store, "x", b"1")


@pytest.mark.timeout(300)
@pytest.mark.long
def test_a_quota_that_is_used_up_is_a_full_disk(hdfs: Hdfs) -> None:
    place = place_in(hdfs)
    store = open_store(place, place["store.url"])
    put(store, "first", b"1")
    hdfs.set_quota("/" + place["store.url"].rpartition("/")[2], names=2)
    with pytest.raises(StoreRefusedError, match=r"quota.*make room there, or raise the quota"):
        put(store, "second", b"2")


@pytest.mark.timeout(300)
@pytest.mark.long
def test_what_is_no_webhdfs_is_said_with_the_key(hdfs: Hdfs) -> None:
    store = open_store({**place_in(hdfs), "webhdfs.url": f"{hdfs.web_url}/elsewhere"}, f"{hdfs.url}/x")
    with pytest.raises(StoreRefusedError, match=r"look at 'hdfs\.url' and webhdfs\.url="):
        put(store, "x", b"1")


@pytest.mark.timeout(300)
@pytest.mark.long
def test_a_server_that_is_away_is_waited_for_and_what_was_stored_is_there_again(hdfs: Hdfs) -> None:
    place = place_in(hdfs)
    store = open_store(place, place["store.url"])
    content = os.urandom(3_000_000)
    put(store, "kept", content)
    hdfs.kill()
    try:
        with pytest.raises(StoreAwayError, match=r"webhdfs\.url=http.*is the address right"):
            store.find("kept")
    finally:
        hdfs.start()
    wait_until(lambda: put_again(store, "later", b"1"), 60, "HDFS takes files again")
    assert store.read("kept", 0, len(content)) == content


@pytest.mark.timeout(300)
@pytest.mark.long
def test_content_that_no_node_has_for_now_is_waited_for(hdfs: Hdfs) -> None:
    place = place_in(hdfs)
    store = open_store(place, place["store.url"])
    put(store, "kept", b"12345")
    half = store.create("half")
    hdfs.kill_data_node()
    try:
        with pytest.raises(StoreAwayError):
            store.read("kept", 0, 5)
        half.write(b"1")
        with pytest.raises(StoreAwayError):
            half.close()
        half.abort()
    finally:
        hdfs.start_data_node()
    wait_until(lambda: put_again(store, "later", b"1"), 60, "HDFS takes files again")
    assert store.read("kept", 0, 5) == b"12345"
