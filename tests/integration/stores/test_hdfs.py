"""HDFS as a store: a real NameNode and a real DataNode."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import pytest
from copycat_objects.stores import webhdfs
from copycat_objects.stores.errors import StoreAwayError, StoreRefusedError
from copycat_objects.stores.opening import open_store
from copycat_testkit.hdfs import USER, Hdfs
from copycat_testkit.kafka import unique, wait_until

from tests.integration.stores.store_suite import StoreSuite, put, put_again

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


def place_in(hdfs: Hdfs, user: str = USER) -> dict[str, Any]:
    return {"store.url": f"{hdfs.url}/{unique('root')}", "webhdfs.url": hdfs.web_url, "hdfs.user": user}


class TestHdfsStore(StoreSuite):
    @pytest.fixture
    def place(self, hdfs: Hdfs) -> Mapping[str, str | int]:
        return {**place_in(hdfs), "part": webhdfs.PART_BYTES}


def test_the_address_of_webhdfs_itself_will_do(hdfs: Hdfs) -> None:
    url = hdfs.web_url.replace("http://", f"webhdfs://{USER}@") + f"/{unique('root')}"
    store = open_store({}, url)
    put(store, "a", b"1")
    assert store.read("a", 0, 1) == b"1"
    assert store.name == url.replace(f"{USER}@", "")


def test_a_user_without_rights_is_refused_by_key(hdfs: Hdfs) -> None:
    store = open_store({**place_in(hdfs, "nobody")}, f"{hdfs.url}/theirs")
    with pytest.raises(
        StoreRefusedError, match=r"Permission denied: user=nobody.*name another in 'hdfs\.user'"
    ):
        put(store, "x", b"1")


def test_a_quota_that_is_used_up_is_a_full_disk(hdfs: Hdfs) -> None:
    place = place_in(hdfs)
    store = open_store(place, place["store.url"])
    put(store, "first", b"1")
    hdfs.set_quota("/" + place["store.url"].rpartition("/")[2], names=2)
    with pytest.raises(StoreRefusedError, match=r"quota.*make room there, or raise the quota"):
        put(store, "second", b"2")


def test_what_is_no_webhdfs_is_said_with_the_key(hdfs: Hdfs) -> None:
    store = open_store({**place_in(hdfs), "webhdfs.url": f"{hdfs.web_url}/elsewhere"}, f"{hdfs.url}/x")
    with pytest.raises(StoreRefusedError, match=r"look at 'hdfs\.url' and webhdfs\.url="):
        put(store, "x", b"1")


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
