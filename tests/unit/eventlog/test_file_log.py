"""The offsets file of standalone Connect."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest
from copycat_connect.errors import ConfigError, OutcomeUnknownError
from copycat_embedded.jvm import find_java
from copycat_eventlog.file_log import FileLog
from copycat_eventlog.java_map import JavaMapError, dump_map, load_map
from copycat_eventlog.log import Record
from copycat_testkit.log_suite import running
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.full_disk import room_for

SETTING = "offset.storage.file.filename"
#: Written by Java 17: a HashMap with a value, a null value, an empty value and a null key.
FROM_JAVA = (
    b"\xac\xed\x00\x05sr\x00\x11java.util.HashMap\x05\x07\xda\xc1\xc3\x16`\xd1\x03\x00\x02F\x00\nloadFactor"
    b"I\x00\tthresholdxp?@\x00\x00\x00\x00\x00\x0cw\x08\x00\x00\x00\x10\x00\x00\x00\x04pur\x00\x02[B\xac\xf3"
    b"\x17\xf8\x06\x08T\xe0\x02\x00\x00xp\x00\x00\x00\x01xuq\x00~\x00\x02\x00\x00\x00\x11[\"src\",{\"f\":\"a\"}]"
    b"uq\x00~\x00\x02\x00\x00\x00\x0f{\"position\":57}uq\x00~\x00\x02\x00\x00\x00\x11[\"src\",{\"f\":\"b\"}]p"
    b"uq\x00~\x00\x02\x00\x00\x00\x11[\"src\",{\"f\":\"c\"}]uq\x00~\x00\x02\x00\x00\x00\x00x"
)  # fmt: skip
#: `Dump.java` prints a map of bytes; its class is beside it, since a Java runtime has no compiler.
DUMP = Path(__file__).parent / "java"


def test_a_file_of_java_is_read() -> None:
    assert load_map(FROM_JAVA) == {
        b'["src",{"f":"a"}]': b'{"position":57}',
        b'["src",{"f":"b"}]': None,
        b'["src",{"f":"c"}]': b"",
    }


@given(st.dictionaries(st.binary(max_size=50), st.none() | st.binary(max_size=50), max_size=40))
def test_what_is_written_is_read(entries: dict[bytes, bytes | None]) -> None:
    assert load_map(dump_map(entries)) == entries


@given(st.integers(0, len(FROM_JAVA) - 2))
def test_a_torn_file_is_refused(length: int) -> None:
    with pytest.raises(JavaMapError):
        load_map(FROM_JAVA[:length])


def test_java_reads_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "offsets").write_bytes(dump_map({b"b": b"2", b"a": b"1", b"c": b""}))
    java = find_java().executable
    command = [str(java), "-XX:TieredStopAtLevel=1", "-cp", str(DUMP), "Dump", str(tmp_path / "offsets")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "{a=1, b=2, c=}"


async def test_the_file_holds_the_newest_facts(tmp_path: Path) -> None:
    path = tmp_path / "offsets"
    log = FileLog(path, SETTING)
    async with running(log):
        await log.append([Record(b"a", b"1"), Record(b"b", b"1")])
        await asyncio.gather(log.append([Record(b"a", b"2")]), log.append([Record(b"b", None)]))
        assert load_map(path.read_bytes()) == {b"a": b"2"}
    assert os.listdir(tmp_path) == ["offsets"]  # noqa: PTH208, the loop is ours alone


async def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    path = tmp_path / "offsets"
    path.write_text("{}")
    with pytest.raises(ConfigError, match=f"{SETTING}={path} is not an offsets file"):
        await FileLog(path, SETTING).start(lambda entries, reached: None)


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no folder"):
        await FileLog(tmp_path / "no" / "offsets", SETTING).start(lambda entries, reached: None)


async def test_a_disk_that_is_full_at_any_byte_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "offsets"
    before, whole = dump_map({b"a": b"1"}), dump_map({b"a": b"1", b"b": b"2"})
    path.write_bytes(before)
    for room in range(len(whole)):
        log = FileLog(path, SETTING)
        async with running(log):
            with room_for(room), pytest.raises(OutcomeUnknownError, match="File too large"):
                await log.append([Record(b"b", b"2")])
        assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["offsets"]  # noqa: PTH208, the loop is ours alone
