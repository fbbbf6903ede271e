"""What a row of the benchmark says.

CPU time of processes that come and go.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from rich.progress import Progress

from tools.bench.rows import RECORDS_PER_SECOND, CpuMeter, Moved, Row, Run, save


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
