"""What a row of the benchmark says."""

import json
from pathlib import Path

from tools.bench.moves import Moved
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
