"""What every store does, whatever holds its files; tests derive from it and say how one is opened."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping

import pytest
from copycat_connect.errors import ConnectError, RetriableError
from copycat_objects.stores.errors import FileMissingError, FileTakenError
from copycat_objects.stores.opening import open_store
from copycat_objects.stores.store import Store
from copycat_testkit.kafka import unique

RACERS = 3
ROUNDS = 8
#: A racer: waits until all are there, then tries to be first, round by round, and prints what it won.
RACER = """
import json, sys
from copycat_connect.errors import RetriableError
from copycat_objects.stores.errors import FileTakenError
from copycat_objects.stores.opening import open_store

parsed, way, name, rounds = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
store = open_store(parsed, parsed["store.url"])
if way == "rename":
    for number in range(rounds):
        with_name = store.create(f"race/{name}-{number}")
        with_name.write(name.encode())
        with_name.close()
print("ready", flush=True)
for number in range(rounds):
    sys.stdin.readline()
    while True:
        try:
            if way == "rename":
                store.rename(f"race/{name}-{number}", f"race/{number}")
            else:
                made = store.create(f"race/{number}")
                made.write(name.encode())
                made.close()
            print("won", flush=True)
        except FileTakenError:
            print("lost", flush=True)
        except RetriableError:
            continue
        break
"""


def put(store: Store, path: str, content: bytes, *, replace: bool = False) -> None:
    """Write a file whole."""
    made = store.create(path, replace=replace)
    made.write(content)
    made.close()


def put_again(store: Store, path: str, content: bytes) -> bool:
    """Write a file whole, and say whether that was possible; for servers that come back."""
    with contextlib.suppress(RetriableError):
        put(store, path, content, replace=True)
        return True
    return False


class StoreSuite:
    """The port's promises."""

    @pytest.fixture
    def place(self) -> Mapping[str, str | int]:
        """Return a configuration of a root that no other test uses."""
        raise NotImplementedError

    @pytest.fixture
    def store(self, place: Mapping[str, str | int]) -> Store:
        """Open it."""
        return open_store(place, str(place["store.url"]))

    def test_what_was_written_is_read_from_any_byte_on(self, store: Store) -> None:
        content = os.urandom(300_000)
        made = store.create("a/b/c.bin")
        made.write(content[:7])
        made.write(memoryview(content)[7:])
        assert made.size == len(content)
        made.close()
        with store.open("a/b/c.bin") as opened:
            assert opened.read() == content
        with store.open("a/b/c.bin", 250_001) as opened:
            assert opened.read(10) == content[250_001:250_011]
        assert store.read("a/b/c.bin", 123_456, 789) == content[123_456:124_245]
        assert store.read("a/b/c.bin", 299_990, 100) == content[299_990:]

    def test_nothing_is_read_at_the_end_and_behind_it(self, store: Store) -> None:
        put(store, "short", b"12345")
        assert store.open("short", 5).read() == b""
        assert store.open("short", 9).read() == b""
        assert store.read("short", 5, 1) == b""

    def test_an_empty_file_is_a_file(self, store: Store) -> None:
        put(store, "empty", b"")
        found = store.find("empty")
        assert found is not None
        assert found.size == 0
        assert store.open("empty").read() == b""

    def test_a_name_may_hold_whatever_a_topic_and_a_field_hold(self, store: Store) -> None:
        path = "t/f=a b%2F&?#é/topic+0+0000000000+0000000009.json"
        put(store, path, b"x")
        assert [file.path for file in store.list("t")] == [path]
        store.rename(path, f"{path}.2")
        assert store.read(f"{path}.2", 0, 9) == b"x"

    def test_all_files_below_a_folder_are_listed_with_their_sizes(self, store: Store) -> None:
        expected = {f"top/{first}/{second}/file": first + second for first in range(3) for second in range(4)}
        for path, size in expected.items():
            put(store, path, b"x" * size)
        put(store, "topmost", b"another folder")
        found = list(store.list("top"))
        assert {file.path: file.size for file in found} == expected
        assert all(file.modified_millis > 1_600_000_000_000 for file in found)
        assert {file.path for file in store.list()} == {*expected, "topmost"}
        assert list(store.list("nowhere")) == []

    def test_a_folder_is_there_once_a_file_is_in_it(self, store: Store) -> None:
        put(store, "later/file", b"x")
        assert store.has_folder("later")
        assert store.has_folder()

    def test_only_files_are_found(self, store: Store) -> None:
        put(store, "folder/file", b"123")
        found = store.find("folder/file")
        assert found is not None
        assert (found.path, found.size) == ("folder/file", 3)
        assert store.find("folder") is None
        assert store.find("folder/other") is None

    def test_a_file_is_not_replaced_unless_asked(self, store: Store) -> None:
        put(store, "one", b"first")
        with pytest.raises(FileTakenError, match="one"):
            put(store, "one", b"second")
        assert store.read("one", 0, 99) == b"first"
        put(store, "one", b"third", replace=True)
        assert store.read("one", 0, 99) == b"third"

    def test_a_rename_never_replaces(self, store: Store) -> None:
        put(store, "tmp/a", b"a")
        put(store, "tmp/b", b"b")
        store.rename("tmp/a", "deep/er/final")
        assert store.find("tmp/a") is None
        with pytest.raises(FileTakenError, match="final"):
            store.rename("tmp/b", "deep/er/final")
        assert store.read("deep/er/final", 0, 9) == b"a"
        assert store.read("tmp/b", 0, 9) == b"b"

    def test_what_is_not_there_is_said_to_be_missing(self, store: Store) -> None:
        with pytest.raises(FileMissingError):
            store.open("nowhere/file")
        with pytest.raises(FileMissingError):
            store.read("nowhere/file", 0, 1)
        with pytest.raises(FileMissingError):
            store.rename("nowhere/file", "elsewhere/file")
        store.delete("nowhere/file")

    def test_a_deleted_file_is_gone(self, store: Store) -> None:
        put(store, "x/y", b"1")
        store.delete("x/y")
        assert store.find("x/y") is None
        assert list(store.list()) == []

    def test_nothing_is_left_of_an_aborted_file(self, store: Store, part_size: int) -> None:
        made = store.create("half")
        made.write(b"x" * (part_size + 1))
        made.abort()
        made.abort()
        assert store.find("half") is None
        put(store, "half", b"whole")

    def test_a_file_of_several_parts_is_put_together(self, store: Store, part_size: int) -> None:
        content = os.urandom(part_size * 2 + 12345)
        put(store, "large", content)
        with store.open("large") as opened:
            assert opened.read() == content
        with pytest.raises(FileTakenError):
            put(store, "large", content)
        store.rename("large", "moved/large")
        assert store.read("moved/large", part_size - 3, 6) == content[part_size - 3 : part_size + 3]
        assert [file.size for file in store.list()] == [len(content)]

    @pytest.fixture
    def part_size(self, place: Mapping[str, str | int]) -> int:
        """Return how much a store gathers before it sends."""
        return int(place.get("part", 100_000))

    @pytest.mark.parametrize("way", ["rename", "create"])
    def test_of_several_processes_one_wins(
        self, store: Store, place: Mapping[str, str | int], way: str
    ) -> None:
        results = race(place, way)
        assert [sum(won) for won in zip(*results.values(), strict=True)] == [1] * ROUNDS
        for number in range(ROUNDS):
            winner = next(name for name, won in results.items() if won[number])
            assert store.read(f"race/{number}", 0, 99).decode() == winner

    def test_errors_name_the_store(self, store: Store) -> None:
        with pytest.raises(ConnectError, match=store.name):
            store.open("nowhere")


def race(place: Mapping[str, str | int], way: str) -> dict[str, list[bool]]:
    """Let processes race, and return who won which round."""
    names = [unique("racer") for _ in range(RACERS)]
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, json.dumps(dict(place)), way, name, str(ROUNDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in names
    ]
    results: dict[str, list[bool]] = {name: [] for name in names}
    try:
        for racer in racers:
            assert racer.stdout is not None
            assert racer.stdout.readline() == "ready\n"
        for _ in range(ROUNDS):
            for racer in racers:
                assert racer.stdin is not None
                racer.stdin.write("go\n")
                racer.stdin.flush()
            for name, racer in zip(names, racers, strict=True):
                assert racer.stdout is not None
                results[name].append(racer.stdout.readline() == "won\n")
    finally:
        for racer in racers:
            racer.kill()
            racer.wait()
    return results
