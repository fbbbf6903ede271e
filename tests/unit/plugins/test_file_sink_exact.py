"""The file sink under exactly-once: what it stores beside the file, whom it lets write, kills at any step."""

from __future__ import annotations

import itertools
import os
from contextlib import suppress
from pathlib import Path

import pytest
from copycat_connect.data import SinkBatch, SinkRecord, TopicPartition
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import ExactlyOnceSupport
from copycat_plugins.connectors.file_stream_sink.connector import FileStreamSinkConnector, FileStreamSinkTask
from copycat_plugins.connectors.file_stream_sink.journal import PLACE_SIZE, Journal, JournalEntry
from copycat_plugins.connectors.file_stream_sink.taking import copy_bytes
from copycat_testkit.conformance import FakeSinkContext

from tests.unit.full_disk import room_for
from tests.unit.plugins.exact_files import PARTITION, calls_of, killed_at, lines, opened, position, write


def config(path: Path, **more: str) -> dict[str, str]:
    return {"name": "sink", "file": str(path), "delivery.guarantee": "exactly_once", **more}


def journal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.copycat-positions")


def test_what_was_not_stored_is_cut_off(tmp_path: Path) -> None:
    file = opened(tmp_path / "out")
    write(file, 2)
    file.append(lines(2))
    file.close()

    again = opened(tmp_path / "out")

    assert position(again) == 2
    assert (tmp_path / "out").read_bytes() == lines(0, 1)
    again.close()


def test_a_journal_that_is_torn_at_any_byte_has_the_entry_before_or_the_new_one(tmp_path: Path) -> None:
    former = JournalEntry(6, "sink", 1, 100, {PARTITION: 10})
    older = JournalEntry(5, "sink", 1, 90, {PARTITION: 9, TopicPartition("other", 1): 1234567})
    newer = JournalEntry(7, "sink", 1, 110, {PARTITION: 11})
    path = tmp_path / "journal"
    line, before = newer.encode(), older.encode()
    for size in range(len(line) + 1):
        torn = line[:size] + before[size:]
        path.write_bytes(former.encode().ljust(PLACE_SIZE, b"\0") + torn)
        with path.open("rb") as journal:
            newest = Journal(journal.fileno(), "j").newest
        assert newest == (newer if size >= len(line) - 1 else former)


def test_a_damaged_journal_is_named_with_the_remedy(tmp_path: Path) -> None:
    opened(tmp_path / "out").close()
    journal_of(tmp_path / "out").write_bytes(b"nothing that counts")

    with pytest.raises(ConnectError, match=r"out\.copycat-positions is damaged.* Delete it"):
        opened(tmp_path / "out")


def test_data_is_durable_before_its_positions_and_positions_before_the_commit(tmp_path: Path) -> None:
    file = opened(tmp_path / "out")
    file.append(lines(0))
    assert calls_of(lambda: file.store({PARTITION: 1})) == ["fsync", "pwrite", "fsync"]
    assert calls_of(lambda: file.store({PARTITION: 1})) == []
    file.close()


def test_a_copy_is_durable_before_it_counts(tmp_path: Path) -> None:
    frozen = opened(tmp_path / "out")
    write(frozen, 1)

    def take() -> None:
        opened(tmp_path / "out").close()

    changes = calls_of(take)

    first, second = [place for place, name in enumerate(changes) if name == "rename"]
    copied = changes.index("copy_file_range")
    assert "fsync" in changes[copied : changes.index("pwrite")]
    assert changes[changes.index("pwrite") : first].count("fsync") == 2  # the journal, then the folder
    assert "fsync" in changes[first:second]
    frozen.close()


def test_lines_that_were_there_stay_and_a_piece_of_a_line_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old\na piece")

    file = opened(path)
    write(file, 1)
    file.close()

    assert path.read_bytes() == b"old\na piece\nline 0\n"


def test_a_batch_that_a_full_disk_cut_short_is_not_there_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out"
    file = opened(path)
    write(file, 2)
    with room_for(20), pytest.raises(ConnectError, match="failed: File too large"):
        file.append(lines(2, 3))
    assert path.read_bytes() == lines(0, 1)

    write(file, 4)

    assert path.read_bytes() == lines(*range(4))
    file.close()


def test_somebody_else_who_writes_to_the_file_is_noticed(tmp_path: Path) -> None:
    file = opened(tmp_path / "out")
    write(file, 1)
    with (tmp_path / "out").open("ab") as other:
        other.write(b"mine\n")

    with pytest.raises(ConnectError, match="somebody else writes to it"):
        file.append(lines(1))
    with pytest.raises(ConnectError, match="somebody else writes to it"):
        file.store({PARTITION: 2})
    file.close()


def test_a_file_that_is_moved_away_stays_stored_and_a_new_one_is_begun(tmp_path: Path) -> None:
    path = tmp_path / "out"
    file = opened(path)
    write(file, 2)
    path.rename(tmp_path / "out.1")
    file.append(lines(2))
    with pytest.raises(ConnectError, match="moved or deleted"):
        file.store({PARTITION: 3})
    file.close()

    again = opened(path)
    write(again, 4)
    again.close()

    assert (tmp_path / "out.1").read_bytes() == lines(0, 1, 2)
    assert path.read_bytes() == lines(3)


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "out")
    frozen = opened(link)
    write(frozen, 1)

    again = opened(link)
    write(again, 2)
    again.close()
    frozen.close()

    assert link.is_symlink()
    assert link.read_bytes() == lines(0, 1)


def test_a_copy_keeps_the_rights_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "out"
    frozen = opened(path)
    path.chmod(0o640)

    opened(path).close()

    assert path.stat().st_mode & 0o777 == 0o640
    frozen.close()


def test_another_connector_is_refused(tmp_path: Path) -> None:
    opened(tmp_path / "out", "one").close()

    with pytest.raises(ConnectError, match="belongs to connector one"):
        opened(tmp_path / "out", "two")


def test_a_pipe_is_no_file_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(ConnectError, match="is no regular file"):
        opened(tmp_path / "pipe")


def test_a_file_that_cannot_be_opened_fails_the_task(tmp_path: Path) -> None:
    task = FileStreamSinkTask()
    given = config(tmp_path / "missing" / "out")
    task.initialize(FakeSinkContext(given))
    task.start(given)

    with pytest.raises(ConnectError, match=f"Couldn't open file '{tmp_path}/missing/out'"):
        task.stored_positions([PARTITION])


@pytest.mark.parametrize("name", ["here", "/proc/version"], ids=["by the system", "where the system cannot"])
def test_the_beginning_of_a_file_is_copied(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "here":
        path.write_bytes(lines(*range(100)))
    with path.open("rb") as source, (tmp_path / "to").open("wb+") as target:
        copy_bytes(source.fileno(), target.fileno(), 20)

    assert (tmp_path / "to").read_bytes() == path.read_bytes()[:20]


def test_the_standard_output_does_not_support_it() -> None:
    connector = FileStreamSinkConnector()
    assert connector.exactly_once_support({"topics": "t"}) is ExactlyOnceSupport.UNSUPPORTED
    assert connector.exactly_once_support({"file": "f"}) is ExactlyOnceSupport.SUPPORTED


def test_a_file_with_positions_has_one_writer(tmp_path: Path) -> None:
    connector = FileStreamSinkConnector()
    connector.start(config(tmp_path / "out"))
    assert len(connector.task_configs(3)) == 1


def test_positions_do_not_outlive_another_guarantee(tmp_path: Path) -> None:
    path = tmp_path / "out"
    file = opened(path)
    write(file, 1)
    file.close()
    given = {"name": "sink", "file": str(path)}
    task = FileStreamSinkTask()
    task.initialize(FakeSinkContext(given))
    task.start(given)
    task.put(SinkBatch.of([SinkRecord(*PARTITION, 1, None, "line 1")]))
    task.stop()

    again = opened(path)

    assert position(again) == 0
    assert path.read_bytes() == lines(0, 1)
    again.close()


def test_positions_of_another_connector_are_left_alone(tmp_path: Path) -> None:
    file = opened(tmp_path / "out", "other")
    given = {"name": "sink", "file": str(tmp_path / "out")}
    task = FileStreamSinkTask()
    task.start(given)
    task.stop()
    assert journal_of(tmp_path / "out").exists()
    file.close()


def test_a_user_moves_what_is_stored(tmp_path: Path) -> None:
    path, other = tmp_path / "out", TopicPartition("t", 1)
    file = opened(path)
    file.store({PARTITION: 5, other: 7})
    file.close()
    connector = FileStreamSinkConnector()

    for change, found in (
        ({PARTITION: 2}, {PARTITION: 2, other: 7}),
        ({other: None}, {PARTITION: 2}),
        ({}, {}),
        ({PARTITION: 4}, {PARTITION: 4}),
    ):
        assert connector.alter_offsets(config(path), change)
        again = opened(path)
        assert again.positions == found
        again.close()


def test_a_user_may_say_where_to_begin_before_there_is_a_file(tmp_path: Path) -> None:
    FileStreamSinkConnector().alter_offsets(config(tmp_path / "out"), {PARTITION: 4})

    file = opened(tmp_path / "out")

    assert position(file) == 4
    file.close()


def test_a_user_moves_what_is_stored_under_another_guarantee_too(tmp_path: Path) -> None:
    file = opened(tmp_path / "out")
    file.store({PARTITION: 5})
    file.close()

    given = config(tmp_path / "out", **{"delivery.guarantee": "at_least_once"})
    FileStreamSinkConnector().alter_offsets(given, {PARTITION: 2})

    again = opened(tmp_path / "out")
    assert position(again) == 2
    again.close()


#: Every so many steps it is killed; at each of them in the long run.
EVERY = pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.long)])


def write_two_more(path: Path) -> None:
    file = opened(path)
    write(file, position(file) + 2)
    file.close()


def goes_on(path: Path) -> None:
    """See that what is stored is in the file, and no more, and that the rest can be written."""
    file = opened(path)
    stored = position(file)
    assert path.read_bytes() == lines(*range(stored))
    write(file, 9)
    file.close()
    assert path.read_bytes() == lines(*range(9))


@EVERY
def test_killed_at_any_step_of_the_first_start(tmp_path: Path, every: int) -> None:
    for step in itertools.count(1, every):
        path = tmp_path / f"out-{step}"
        if not killed_at(step, lambda path=path: write_two_more(path)):  # type: ignore[misc]
            break
        goes_on(path)
    assert step > 25


@EVERY
def test_killed_at_any_step_of_a_later_start(tmp_path: Path, every: int) -> None:
    for step in itertools.count(1, every):
        path = tmp_path / f"out-{step}"
        write_two_more(path)
        with path.open("ab") as tail:
            tail.write(b"line 2\nli")  # was not stored
        if not killed_at(step, lambda path=path: write_two_more(path)):  # type: ignore[misc]
            break
        goes_on(path)
    assert step > 15


@EVERY
@pytest.mark.parametrize("stores", [False, True], ids=["writes", "writes and stores"])
def test_killed_at_any_step_of_taking_the_file_from_one_that_goes_on(
    tmp_path: Path, stores: bool, every: int
) -> None:
    for step in itertools.count(1, every):
        path = tmp_path / f"out-{step}"
        write_two_more(path)
        frozen = opened(path)
        frozen.append(lines(2))
        killed = killed_at(step, lambda path=path: write_two_more(path))  # type: ignore[misc]

        with suppress(ConnectError):
            frozen.append(lines(3))
            if stores:
                frozen.store({PARTITION: 4})
        goes_on(path)
        with pytest.raises(ConnectError):
            write(frozen, 12)
        frozen.close()

        goes_on(path)
        if not killed:
            break
    assert step > 40
