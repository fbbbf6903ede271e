"""Figures of the benchmark and of the load curve: rows, CPU time, tables, curves and slopes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from copycat_testkit.outcomes import write_between
from rich.progress import Progress

from tools.bench.rows import RECORDS_PER_SECOND, CpuMeter, Moved, Row, Run, save
from tools.load.crowd import Latency
from tools.load.growth import Memory, Step
from tools.load.page import COUNTED_ONLY, PAGE, curves, figures_table, memory_table, steps_table


def test_a_row_compares_with_the_peer_and_the_limit(tmp_path: Path) -> None:
    row = Row("row", "records/s", "settings")
    for side, rate, cpu in (("ours", 300.0, 2.0), ("peer", 100.0, 6.0), ("kcat", 400.0, 1.0)):
        row.note(side, Moved(rate, cpu))

    save([row], tmp_path / "bench.json")

    [saved] = json.loads((tmp_path / "bench.json").read_bytes())
    assert (saved["ratio"], saved["ratio_to_kcat"]) == ([3.0] * 3, [0.75] * 3)
    assert saved["cpu_s_per_million"] == {"ours": [2.0] * 3, "peer": [6.0] * 3, "kcat": [1.0] * 3}


def test_a_figure_without_cpu_time_is_one_too() -> None:
    row = Row("row", "s", "settings")
    row.note("ours", 1.0)
    row.note("peer", 2.0)
    assert (row.ratios(), row.ratios_to_kcat(), row.cpu) == ([0.5], [], {})


def _run(folder: Path, *names: str) -> Run:
    return Run(folder, set(names), pairs=2, records=10, progress=Progress(disable=True))


def test_sides_are_measured_in_turn_and_the_first_round_of_records_only_warms_them_up(tmp_path: Path) -> None:
    order = iter(range(100))
    sides = {"ours": lambda: float(next(order)), "peer": lambda: float(next(order))}

    moved = _run(tmp_path).measure(Row("row", RECORDS_PER_SECOND, "settings"), sides)
    waited = _run(tmp_path).measure(Row("row", "s", "settings"), sides)

    assert (moved.ours, moved.peer) == ([2.0, 4.0], [3.0, 5.0])
    assert (waited.ours, waited.peer) == ([6.0, 8.0], [7.0, 9.0])


def test_one_measurement_fills_several_rows(tmp_path: Path) -> None:
    rows = (Row("p50", "ms", "settings"), Row("p99", "ms", "settings"))

    _run(tmp_path).measure_all(rows, {"ours": lambda: (1.0, 2.0), "peer": lambda: (3.0, 4.0)})

    assert [(row.ours, row.peer) for row in rows] == [([1.0] * 2, [3.0] * 2), ([2.0] * 2, [4.0] * 2)]


def test_all_rows_are_wanted_unless_some_are_named(tmp_path: Path) -> None:
    assert _run(tmp_path).wants("mirror")
    assert _run(tmp_path, "mirror", "memory").wants("takeover", "mirror")
    assert not _run(tmp_path, "memory").wants("takeover", "mirror")


_BURN = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ninput()"


def _burnt() -> subprocess.Popen[bytes]:
    """Start a child that has used half a second of CPU time and waits."""
    child = subprocess.Popen([sys.executable, "-c", _BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    return child


def test_a_process_that_ends_takes_nothing_of_what_others_used() -> None:
    with _burnt() as earlier:
        meter = CpuMeter(os.getpid())
        with _burnt() as later:
            earlier.communicate(b"\n")
            cpu = meter.moved(1_000_000, 1.0).cpu
            later.communicate(b"\n")
    assert cpu >= 0.3


ASKED = ("GET /connectors", "GET status", "PUT config")


def _step(connectors: int) -> Step:
    return Step(
        connectors,
        defined=10.0,
        running=2.0,
        hosts=8,
        memory={"config": (90.0, 60.0), "host": (900.0, 300.0)},
        cores={"config": 0.01, "host": 0.2},
        latencies={asked: Latency(3.0, 9.0) for asked in ASKED},
        lost=4.0,
        back=6.0,
        load=1.5,
    )


def test_a_step_is_a_column() -> None:
    lines = steps_table([_step(50), _step(100)]).splitlines()
    assert lines[0] == "| connectors | 50 | 100 |"
    assert "| memory of host, MB | 300 | 300 |" in lines
    assert "| memory, all roles, MB | 360 | 360 |" in lines
    assert "| CPU at rest, all roles, % | 21.0 | 21.0 |" in lines
    assert "| GET status, p50/p99, ms | 3/9 | 3/9 |" in lines


def test_curves_are_a_picture() -> None:
    picture = ElementTree.fromstring(curves([_step(50), _step(100)]))  # noqa: S314 - our own text
    assert len([each for each in picture if each.tag.endswith("polyline")]) == 6


def test_a_leak_shows_as_growth_for_each_change() -> None:
    found = Memory([0.0, 1.0, 2.0, 3.0], [0, 100, 200, 300], {"config": [50.0, 60.0, 61.0, 62.0]})
    assert found.slopes() == {"config": pytest.approx(10.0)}
    assert "| config | 50 | 62 | +10.00 |" in memory_table(found)


def test_what_did_not_come_is_said() -> None:
    counted = {f"{COUNTED_ONLY}workers lost": 1.0}
    text = figures_table([{"all run after, s": 3.14159, **counted}, {"all run after, s": None}], [500, 1000])
    assert text.splitlines() == [
        "| connectors | 500 | 1000 |",
        "| --- | --- | --- |",
        "| all run after, s | 3.14 | never |",
    ]


def test_only_what_is_between_the_markers_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- steps -->\nold\n<!-- /steps -->\nafter\n")
    write_between(page, "steps", "new")
    assert page.read_text() == "before\n<!-- steps -->\nnew\n<!-- /steps -->\nafter\n"
    with pytest.raises(ValueError, match="no markers of churn"):
        write_between(page, "churn", "new")


@pytest.mark.parametrize("name", ["steps", "churn", "simulation"])
def test_the_page_has_a_place_for_each(name: str) -> None:
    text = PAGE.read_text()
    assert f"<!-- {name} -->" in text
    assert f"<!-- /{name} -->" in text
