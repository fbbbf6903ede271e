"""In which order several processes are given the groups of tests."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
FILE = "import pytest\n\n@pytest.mark.parametrize('n', range({}))\ndef test_it(n):\n    assert n >= 0\n"
CACHE = Path(".pytest_cache/v/copycat/seconds")


def order(folder: Path) -> list[str]:
    """Run the tests of a folder in one process beside this one, and return its groups as they came."""
    words = ["-n", "1", "--no-loadscope-reorder", "-v", "-p", "tests.conftest", "--rootdir", ".", "tests"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", os.devnull, "-o", "cache_dir=.pytest_cache", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    found = re.findall(r"PASSED \S*?(tests/[\w/]+)(?:\.py)?::", run.stdout)
    return list(dict.fromkeys(found))


def test_the_group_that_takes_longest_comes_first_and_how_long_it_took_is_known_the_next_time(
    tmp_path: Path,
) -> None:
    for name, tests in {"unit/test_many": 9, "integration/test_few": 3, "integration/test_two": 2}.items():
        file = tmp_path / "tests" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(FILE.format(tests))
    few, two, many = "tests/integration/test_few", "tests/integration/test_two", "tests/unit/test_many"

    assert order(tmp_path) == [few, two, many], "guessed: one of integration takes longer than many units"

    measured = json.loads((tmp_path / CACHE).read_text())
    assert set(measured) == {f"{each}.py" for each in (few, two, many)}
    (tmp_path / CACHE).write_text(json.dumps({**measured, f"{many}.py": 60.0, f"{two}.py": 30.0}))
    assert order(tmp_path) == [many, two, few]
