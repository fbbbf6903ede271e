"""A distribution of plugins works with the SDK alone: its wheel, installed into a fresh environment."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[3]
UV = shutil.which("uv") or str(ROOT / "build/uv/bin/uv")
#: Validates a configuration of the connector as an executor does; lists what is installed, and what is found.
VALIDATES = """
from importlib.metadata import distributions
from copycat_connect.plugin import CONNECTORS, load_plugins
from copycat_connect.validation import WorkerRules, validate_connector

plugins = load_plugins()
spec = plugins.find("JdbcSink", CONNECTORS)
config = {"name": "alone", "connector.class": spec.class_name, "topics": "orders"}

def wrong(config):
    infos = validate_connector(config, spec, plugins, WorkerRules.of({}), spec.make()).infos
    return [info.value.name for info in infos if info.value.errors]

right = {"connection.url": "jdbc:sqlite:/tmp/orders.db"}
print(wrong({**config, **right}), wrong({**config, "insert.mode": "sideways"}))
print(sorted(each.name for each in distributions() if each.name.startswith("copycat")))
print(sorted(each.class_name.rpartition(".")[2] for each in plugins.all()))
"""


def run(*command: str | Path, folder: Path) -> str:
    """Run a program in a folder that has nothing of the project; it must succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel of the JDBC connectors, the SDK and the suites."""
    folder = tmp_path_factory.mktemp("alone")
    wheels = folder / "wheels"
    for package in ("copycat-connect", "copycat-jdbc", "copycat-testkit"):
        run(UV, "build", "--quiet", "--wheel", "--package", package, "--out-dir", wheels, folder=ROOT)
    made = folder / "environment"
    run(UV, "venv", "--quiet", "--python", sys.executable, made, folder=folder)
    python = made / "bin/python"
    install = (UV, "pip", "install", "--quiet", "--python", python)
    run(*install, "--find-links", wheels, "copycat-jdbc", "pytest", "pytest-timeout", folder=folder)
    # Of the test kit the suites alone: what it needs for Kafka and whole systems stays away.
    run(*install, "--no-deps", *wheels.glob("copycat_testkit-*.whl"), folder=folder)
    return python


def test_its_connector_validates_beside_the_sdk_alone(python: Path, tmp_path: Path) -> None:
    wrong, packages, plugins = run(python, "-c", VALIDATES, folder=tmp_path).splitlines()
    assert wrong == "[] ['connection.url', 'insert.mode']"
    assert packages == "['copycat-connect', 'copycat-jdbc', 'copycat-testkit']"
    assert plugins == "['JDBCSourceConnector', 'JdbcSinkConnector', 'JdbcSourceConnector']"


def test_its_conformance_suite_passes_there(python: Path, tmp_path: Path) -> None:
    suite = Path(shutil.copy(ROOT / "tests/conformance/test_jdbc_source.py", tmp_path))
    shown = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", suite.name, folder=tmp_path)
    print(shown)  # what `pytest -s` shows
    assert " passed" in shown
    assert "skipped" not in shown
