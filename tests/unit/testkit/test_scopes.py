"""What tests start ends with their folder; one broker alone lives as long as the run."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
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
