"""Folders of files without a table as SparkSink writes them: kills, names of folders, and what is refused."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from copycat_connect.data import INT32_SCHEMA, INT64_SCHEMA, OPTIONAL_STRING_SCHEMA, Struct
from copycat_connect.errors import ConnectError
from copycat_objects.spark_sink.connector import SparkSinkConnector
from copycat_objects.spark_sink.file_commits import FileCommits

from tests.unit.plugins.objects.sink_tables import PARTITION, OrcSinkFiles, ParquetSinkFiles, struct
from tests.watched_store import KilledError, killer


def row(number: int, word: str | None = None) -> Struct:
    return struct(id=(INT32_SCHEMA, number), word=(OPTIONAL_STRING_SCHEMA, word))


def committed(files: ParquetSinkFiles) -> int:
    """The position in the newest entry, as the file has it."""
    entries = sorted(files.folder.glob("_copycat/c.log/commit-*"))
    found = json.loads(entries[-1].read_bytes()) if entries else {"position": {"positions": {}}}
    return int(found["position"]["positions"].get("t-0", 0))


def test_killed_before_or_after_any_change_files_have_each_record_once(tmp_path: Path) -> None:
    for step in count(1):
        files = ParquetSinkFiles(tmp_path / str(step), "word")
        outlived = True
        # One that is killed somewhere, then two that are killed while they begin.
        for last in (step, 1 + step % 3, 4 + step % 7):
            files.watch = killer(last)
            try:
                files.run(2, 5)
            except KilledError:
                outlived = False
            assert set(files.seen()) <= {*range(committed(files))}, "nothing is seen that does not count"
            if outlived:
                break
        files.watch = None
        files.run(2, 5, 6)
        assert files.seen() == [*range(6)], f"killed at change {step}"
        files.commits()
        assert files.staged() == [], "the next task has removed what others left"
        if outlived:
            assert step == 29, "one more than there are changes"
            return


def test_folders_are_named_as_hive_names_them_and_readers_see_committed_files_alone(tmp_path: Path) -> None:
    files = ParquetSinkFiles(tmp_path, "word")
    commits = files.commits()
    commits.add(files.write(row(0, "ü/=% &"), row(1), row(2, "a")), {PARTITION: 3})
    files.write(row(9, "a"))
    names = {each.parent.name for each in files.folder.rglob("*.parquet")}
    assert names == {"word=ü%2F%3D%25%20&", "word=__HIVE_DEFAULT_PARTITION__", "word=a"}
    read = ds.dataset(files.folder, format="parquet", partitioning="hive").to_table().to_pylist()
    assert sorted((each["id"], each["word"]) for each in read) == [(0, "ü/=% &"), (1, None), (2, "a")]
    (staged,) = files.staged()
    assert len([*files.folder.glob("_copycat/c.staged/*")]) == 1, "a folder for each task, not for each round"
    assert not staged.endswith(".parquet")


def test_contents_that_no_folder_can_be_named_after_are_reported(tmp_path: Path) -> None:
    files = ParquetSinkFiles(tmp_path, "word")
    files.commits().add(files.write(row(0, "a"), row(1, "ü" * 130), row(2, "b")), {PARTITION: 3})
    only = struct(word=(OPTIONAL_STRING_SCHEMA, "a"))
    assert files.write(only) == []
    assert files.ids() == [0, 2]
    assert "word, by which the files are divided" in files.reported[0][1]
    assert "The value has no fields but those by which" in files.reported[1][1]


def test_a_folder_keeps_its_columns_its_division_and_its_format(tmp_path: Path) -> None:
    files = ParquetSinkFiles(tmp_path, "word")
    files.commits().add(files.write(row(0, "a")), {PARTITION: 1})
    other = ParquetSinkFiles(tmp_path)
    other.commits().add(
        other.write(struct(id=(INT64_SCHEMA, 1), word=(OPTIONAL_STRING_SCHEMA, "a"))), {PARTITION: 2}
    )
    assert {each.parent.name for each in files.folder.rglob("*.parquet")} == {"word=a"}
    assert files.ids() == [0, 1]
    with pytest.raises(
        ConnectError, match="has files of parquet, which this connector wrote, and format is orc"
    ):
        OrcSinkFiles(tmp_path).commits()


def test_a_changed_entry_is_refused_with_what_to_do(tmp_path: Path) -> None:
    files = ParquetSinkFiles(tmp_path)
    files.run(1)
    newest = max(files.folder.glob("_copycat/c.log/commit-*"))
    newest.write_text(json.dumps({"position": 7, "connector": "c", "files": []}))
    with pytest.raises(ConnectError, match="Delete the log to go on where the consumer group is"):
        files.commits()


def test_a_file_that_somebody_deleted_is_missed_until_offsets_are_altered(tmp_path: Path) -> None:
    files = ParquetSinkFiles(tmp_path)
    files.run(2, 5)
    for each in files.folder.glob("*.parquet"):
        each.unlink()
    with pytest.raises(ConnectError, match="Alter the connector's offsets"):
        files.commits()
    assert SparkSinkConnector().alter_offsets(files.config, {PARTITION: 2})
    files.run(5)
    assert files.seen() == [2, 3, 4]


def test_a_new_column_of_two_types_is_refused_whoever_wrote_first(tmp_path: Path) -> None:
    files = ParquetSinkFiles(tmp_path)
    commits: FileCommits = files.opened()
    commits.claim()
    first, second = files.write(row(0)), files.write(struct(id=(INT64_SCHEMA, 1)))
    commits.add(first, {PARTITION: 1})
    with pytest.raises(ConnectError, match="have a field id of two types, int32 and int64"):
        commits.add(second, {PARTITION: 2})
    assert files.seen() == [0]
