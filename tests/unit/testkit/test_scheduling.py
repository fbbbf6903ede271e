"""What several processes of tests do: in which order they are given the groups, and who compiles what."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
FILE = "import pytest\n\n@pytest.mark.parametrize('n', range({}))\ndef test_it(n):\n    assert n >= 0\n"
CACHE = Path(".pytest_cache/v/copycat/seconds")


#: Keeps which test files were compiled when a process began to collect.
NOTES = """
import os
from pathlib import Path

def pytest_collection():
    compiled = {file.name.partition(".")[0] for file in Path("tests").rglob("*-pytest-*.pyc")}
    Path(os.environ.get("PYTEST_XDIST_WORKER", "first")).write_text(" ".join(sorted(compiled)))
"""


def run_tests(folder: Path, processes: int) -> str:
    """Run the tests of a folder in processes beside this one, and return what was said."""
    words = ["-n", str(processes), "--no-loadscope-reorder", "-v", "-p", "tests.conftest", "--rootdir", "."]
    words += ["-p", "no:schemathesis", "-p", "no:faker"]  # as in all runs of these tests
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", os.devnull, "-o", "cache_dir=.pytest_cache", *words, "tests"],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def order(folder: Path) -> list[str]:
    """Run the tests of a folder in one process, and return its groups as they came."""
    found = re.findall(r"PASSED \S*?(tests/[\w/]+)(?:\.py)?::", run_tests(folder, 1))
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


def test_each_of_several_processes_compiles_a_share_of_the_files_before_all_of_them_collect(
    tmp_path: Path,
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_text(NOTES)
    for name in ("test_a", "test_b", "test_c", "test_d"):
        (tmp_path / "tests" / f"{name}.py").write_text(FILE.format(1))

    run_tests(tmp_path, 2)

    one, other = (set((tmp_path / name).read_text().split()) for name in ("gw0", "gw1"))
    assert {"test_a", "test_c"} <= one
    assert {"test_b", "test_d"} <= other
