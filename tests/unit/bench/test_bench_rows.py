"""What a row of the benchmark says.

CPU time of a stretch of a benchmark, of processes that come and go.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tools.bench.processes import Moved, Stretch
from tools.bench.rows import Row, save


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


_BURN = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ninput()"


def _burnt() -> subprocess.Popen[bytes]:
    """Start a child that has used half a second of CPU time and waits."""
    child = subprocess.Popen([sys.executable, "-c", _BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    return child


def test_a_process_that_ends_takes_nothing_of_what_others_used() -> None:
    with _burnt() as earlier:
        stretch = Stretch(os.getpid())
        with _burnt() as later:
            earlier.communicate(b"\n")
            cpu = stretch.moved(1_000_000, 1.0).cpu
            later.communicate(b"\n")
    assert cpu >= 0.3
