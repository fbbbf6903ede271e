"""A run of tests: what goes to which process, what lives how long, which cases of a family are kept."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from copycat_testkit.sampling import sampled

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


@pytest.mark.long
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


@pytest.mark.long
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


FILES = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "libs/testkit").rglob("*.py")]
SCOPE = re.compile(r'^@[\w.]*fixture\([^)]*\bscope="(\w+)"[^)]*\)\n(?:async )?def (\w+)', re.MULTILINE)
FIXTURES = {
    (scope, file.relative_to(ROOT), name) for file in FILES for scope, name in SCOPE.findall(file.read_text())
}


def test_nothing_but_the_shared_broker_lives_as_long_as_the_run() -> None:
    found = {(str(file), name) for scope, file, name in FIXTURES if scope == "session"}

    assert found == {("libs/testkit/copycat_testkit/kafka.py", "kafka")}


def test_a_fixture_of_a_folder_is_one_that_pytest_ends_with_the_folder() -> None:
    """That is a fixture in the conftest of a package; any other waits for the end of the run."""
    files = {file for scope, file, _ in FIXTURES if scope == "package"}
    folders = {folder for file in files for folder in file.parents if folder.is_relative_to("tests")}

    assert files
    assert {file.name for file in files} == {"conftest.py"}
    assert [folder for folder in folders if not (ROOT / folder / "__init__.py").exists()] == []


def kept(cases: list[Any]) -> list[Any]:
    return [case for case in cases if not any(mark.name == "long" for mark in getattr(case, "marks", ()))]


@pytest.mark.parametrize(
    ("keep", "expected"),
    [(1, [0]), (2, [0, 9]), (4, [0, 3, 6, 9]), (10, list(range(10))), (50, list(range(10)))],
)
def test_the_kept_cases_are_spread_evenly(keep: int, expected: list[int]) -> None:
    assert kept(sampled(range(10), keep=keep)) == expected
    assert len(sampled(range(10), keep=keep)) == 10


def test_cases_of_several_values_and_with_marks_keep_them() -> None:
    pairs = sampled([(1, 2), (3, 4)], keep=1, several=True)
    marked = sampled([1, pytest.param(2, marks=pytest.mark.row("x"), id="two")], keep=1)

    assert pairs[1].values == (3, 4)
    assert (marked[1].id, [mark.name for mark in marked[1].marks]) == ("two", ["row", "long"])


def test_a_tuple_is_one_value_unless_it_is_said_to_be_several() -> None:
    assert sampled([(1, 2), (3, 4)], keep=1)[1].values == ((3, 4),)


def test_a_family_keeps_at_least_one_case() -> None:
    with pytest.raises(ValueError, match="keep is 0"):
        sampled([1], keep=0)
