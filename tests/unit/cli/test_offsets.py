"""offsets get, alter, move, reset, undo."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.cli.conftest import Run
from tests.unit.cli.fake_connect import FakeConnect

ENTRY = {"partition": {"filename": "/in.txt"}, "offset": {"position": 57}}
PATH = "/connectors/lines/offsets"


def moved(
    number: int, before: int | None, after: int | None, repeated: int | None = 0, skipped: int | None = 0
) -> dict[str, Any]:
    """Return what a dry run says of one partition of a topic."""
    untold = None in {repeated, skipped}
    return {
        "partition": {"kafka_topic": "t", "kafka_partition": number},
        "before": None if before is None else {"kafka_offset": before},
        "after": None if after is None else {"kafka_offset": after},
        "effect": {
            "repeated": repeated,
            "skipped": skipped,
            "unit": "records",
            "text": "cannot be told" if untold else f"repeats {repeated}, skips {skipped}",
        },
    }


@pytest.fixture
def foretelling(connect: FakeConnect) -> FakeConnect:
    """A cluster that has dry runs."""
    connect.foretold = [moved(0, 9, 4, 5), moved(1, 7, 7), moved(2, 3, None, 3)]
    return connect


def test_offsets_are_altered_by_what_was_shown(run: Run, foretelling: FakeConnect) -> None:
    known = foretelling.add("lines", state="STOPPED", offsets=[ENTRY])
    assert '{"filename":"/in.txt"}  {"position":57}' in run("offsets", "get", "lines").stdout
    shown = run("offsets", "get", "lines", "-o", "json").stdout
    done = run("offsets", "alter", "lines", "-", "--yes", said=shown.replace("57", "0"))
    assert done.exit_code == 0, done.output
    assert known.offsets[0]["offset"] == {"position": 0}
    assert run("offsets", "reset", "lines", "--yes").exit_code == 0
    assert known.offsets == []


@pytest.mark.parametrize(
    ("words", "sent", "query"),
    [
        (("alter", "lines", "-"), ("PATCH", PATH), {}),
        (("move", "lines", "--rewind", "2h"), ("PATCH", PATH), {"rewind": "2h"}),
        (
            ("move", "lines", "--to", "2026-11-20T11:00+01:00"),
            ("PATCH", PATH),
            {"to": "2026-11-20T11:00+01:00"},
        ),
        (("reset", "lines"), ("DELETE", PATH), {}),
        (("undo", "lines"), ("POST", f"{PATH}/undo"), {}),
    ],
)
def test_a_dry_run_shows_what_would_happen_and_changes_nothing(
    run: Run, foretelling: FakeConnect, words: tuple[str, ...], sent: tuple[str, str], query: dict[str, str]
) -> None:
    foretelling.add("lines")
    said = json.dumps({"offsets": [ENTRY]})
    done = run("offsets", *words, "--dry-run", said=said)
    assert done.exit_code == 0, done.output
    rows = [line.split(maxsplit=3) for line in done.stdout.splitlines() if line.startswith("t-")]
    assert rows == [
        ["t-0", "9", "4", "repeats 5, skips 0"],
        ["t-1", "7", "7", "repeats 0, skips 0"],
        ["t-2", "3", "none", "repeats 3, skips 0"],
    ]
    assert "In all: repeats at most 8 and skips at most 0 records." in done.stdout
    assert "Note: It is not stopped." in done.stdout
    assert foretelling.changes == []
    [asked] = foretelling.dry_runs
    assert (asked.method, asked.path) == sent
    assert dict(asked.query) == {"dry_run": "true", **query}
    tree = json.loads(run("offsets", *words, "--dry-run", "-o", "json", said=said).stdout)
    assert tree["offsets"] == foretelling.foretold


def test_what_was_shown_is_what_a_move_does(run: Run, foretelling: FakeConnect) -> None:
    foretelling.add("lines", state="STOPPED")
    done = run("offsets", "move", "lines", "--rewind", "2h", "--yes")
    assert done.exit_code == 0, done.output
    assert "(to 2026-11-20T10:00:00.000Z)" in done.stderr
    [(method, path, body)] = foretelling.changes
    assert (method, path) == ("PATCH", PATH)
    entries = [(entry["partition"]["kafka_partition"], entry["offset"]) for entry in body["offsets"]]
    assert entries == [(0, {"kafka_offset": 4}), (2, None)]
    assert "copycat offsets undo lines" in done.stderr


def test_a_move_that_leads_nowhere_changes_nothing(run: Run, foretelling: FakeConnect) -> None:
    foretelling.foretold = [moved(0, 4, 4)]
    foretelling.add("lines", state="STOPPED")
    done = run("offsets", "move", "lines", "--rewind", "2h", "--yes")
    assert (done.exit_code, "Nothing was changed" in done.stdout) == (0, True)
    assert foretelling.changes == []


def test_an_undo_is_made_and_told(run: Run, foretelling: FakeConnect) -> None:
    foretelling.add("lines", state="STOPPED")
    done = run("offsets", "undo", "lines", "-y", "-o", "json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"name": "lines", "message": "taken back"})
    assert foretelling.changes == [("POST", f"{PATH}/undo", None)]
    assert "offsets undo" not in run("offsets", "undo", "lines", "-y").stderr


@pytest.mark.parametrize(
    "words", [("reset", "lines"), ("undo", "lines"), ("move", "lines", "--rewind", "2h")]
)
def test_in_a_script_it_is_done_only_where_that_was_said(
    run: Run, foretelling: FakeConnect, words: tuple[str, ...]
) -> None:
    foretelling.add("lines", state="STOPPED")
    done = run("offsets", *words, said="y\n")
    assert done.exit_code == 2
    assert "repeats 5, skips 0" in done.stderr
    assert "standard input is no terminal. --yes does it without asking" in done.stderr
    assert foretelling.changes == []


def test_offsets_of_what_runs_tell_how_to_stop_it(run: Run, foretelling: FakeConnect) -> None:
    foretelling.add("lines")
    done = run("offsets", "reset", "lines", "--yes")
    assert done.exit_code == 4
    assert "copycat stop lines" in done.stderr
    assert foretelling.changes == []


def test_what_is_counted_differently_is_not_added_up(run: Run, foretelling: FakeConnect) -> None:
    foretelling.add("lines")
    for effects in ([moved(0, 9, 4, 5)], [moved(0, 9, 4, 5), moved(1, 9, 4, None, None)]):
        foretelling.foretold = effects
        assert "In all" not in run("offsets", "reset", "lines", "--dry-run").stdout
    foretelling.foretold = []
    assert "lines has no offsets that would move." in run("offsets", "reset", "lines", "--dry-run").stdout


@pytest.mark.parametrize("words", [(), ("--rewind", "2h", "--to", "2026-11-20T10:00Z")])
def test_a_move_needs_one_time(run: Run, foretelling: FakeConnect, words: tuple[str, ...]) -> None:
    done = run("offsets", "move", "lines", *words)
    assert (done.exit_code, "--rewind 2h, or --to" in done.stderr) == (2, True)


@pytest.mark.parametrize("name", ["reset", "undo"])
def test_offsets_of_an_unknown_connector_are_not_found(run: Run, foretelling: FakeConnect, name: str) -> None:
    assert run("offsets", name, "lines", "--dry-run").exit_code == 3


@pytest.mark.parametrize(
    "words",
    [
        ("reset", "lines", "--dry-run"),
        ("alter", "lines", "-", "--dry-run"),
        ("move", "lines", "--rewind", "2h", "--yes"),
        ("undo", "lines", "--yes"),
    ],
)
def test_kafka_connect_is_never_sent_what_it_would_take_for_the_change_itself(
    run: Run, connect: FakeConnect, words: tuple[str, ...]
) -> None:
    known = connect.add("lines", state="STOPPED", offsets=[ENTRY])
    done = run("offsets", *words, said=json.dumps({"offsets": []}))
    assert (done.exit_code, "has no dry runs" in done.stderr) == (4, True)
    assert connect.changes == []
    assert known.offsets == [ENTRY]


def test_kafka_connect_still_takes_a_reset_without_a_preview(run: Run, connect: FakeConnect) -> None:
    known = connect.add("lines", state="STOPPED", offsets=[ENTRY])
    done = run("offsets", "reset", "lines", "--yes")
    assert (done.exit_code, known.offsets) == (0, [])
    assert "undo" not in done.stderr


def test_what_is_no_list_of_offsets_is_wrong_usage(run: Run, connect: FakeConnect) -> None:
    connect.add("lines", state="STOPPED")
    done = run("offsets", "alter", "lines", "-", said='{"offset": 3}')
    assert done.exit_code == 2
    assert "standard input is no list of offsets" in done.stderr
    assert connect.changes == []
