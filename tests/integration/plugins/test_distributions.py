"""Plugins as distributions: written by the page, and one that works with the SDK alone."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from copycat_testkit.kafka import consume_all, wait_until
from copycat_testkit.scratch_environment import ScratchEnvironment
from copycat_testkit.system import CopycatUp, names

pytestmark = [pytest.mark.timeout(600), pytest.mark.long]

PAGE = Path(__file__).parents[3] / "libs/connect/WRITING_A_CONNECTOR.md"
BLOCK = re.compile(r"^```(\w+)[ ]?([\w.]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WAIT_SECONDS = 120
PAGE_FOLDER = "/tmp/"  # noqa: S108 - what the page says, replaced by the folder of the test


def blocks(kind: str) -> list[tuple[str, str]]:
    """Return the blocks of a language, each with the file name beside it, which may be empty."""
    found = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    return [(name, text) for language, name, text in found if language == kind]


def requests(url: str, folder: Path) -> list[tuple[str, str, str | None]]:
    """Return the page's curl commands as method, URL and body, for this system and this folder."""
    text = "\n".join(block for _, block in blocks("sh"))
    sent = []
    for command in re.split(r"^(?=curl)", text, flags=re.MULTILINE)[1:]:
        words = shlex.split(command)
        method = words[words.index("-X") + 1] if "-X" in words else "GET"
        body = words[words.index("-d") + 1].replace(PAGE_FOLDER, f"{folder}/") if "-d" in words else None
        address = next(word for word in words if word.startswith("http://"))
        sent.append((method, address.replace("http://127.0.0.1:8083", url), body))
    return sent


def without_chance(tree: Any) -> str:
    """Return a status as text, without the port, the times and the generations of this run."""
    text = re.sub(r"127\.0\.0\.1:\d+", "WORKER", json.dumps(tree))
    return re.sub(r'"since": "[-\d:.TZ]+", "generation": \d+', "SINCE", text)


def runs(url: str) -> Any:
    status = httpx2.get(url).json()
    states = [each["state"] for each in (status.get("connector", {"state": ""}), *status.get("tasks", ()))]
    assert "FAILED" not in states, httpx2.get(url).text
    return status if states == ["RUNNING", "RUNNING"] else None


@pytest.mark.timeout(420)
def test_the_page_leads_from_nothing_to_records_in_the_topic(
    kafka: str, environment: ScratchEnvironment, tmp_path: Path
) -> None:
    package = tmp_path / "load-connector"
    package.mkdir()
    for name, text in (*blocks("python"), *blocks("toml")):
        if name:  # the others are lines that another file would have
            (package / name).write_text(text, encoding="utf-8")
    added = environment.run("plugins", "add", package)
    shown, lines = (text for _, text in blocks("text"))
    assert added.stdout + added.stderr == shown

    data, program = tmp_path / "data", environment.copycat
    with CopycatUp(data, kafka, settings=names("the-page"), program=program) as system:
        *made, (_, status, _) = requests(system.url, tmp_path)
        for method, url, body in made:
            answer = httpx2.request(
                method, url, content=body, headers={"Content-Type": "application/json"}, timeout=WAIT_SECONDS
            )
            assert answer.status_code == 201, answer.text
        running = wait_until(lambda: runs(status), WAIT_SECONDS, "the page's connector runs")
        ((_, answered),) = blocks("json")
        assert without_chance(running) == without_chance(json.loads(answered))
        file = tmp_path / "load.txt"
        wait_until(
            lambda: file.exists() and len(file.read_text().splitlines()) >= 3, WAIT_SECONDS, "three records"
        )

    in_topic = [json.loads(message.value() or b"") for message in consume_all(kafka, "load")]
    assert [record["number"] for record in in_topic] == list(range(1, len(in_topic) + 1))
    assert all(round(record["load"], 1) == record["load"] for record in in_topic)
    shape = re.sub(r"\d\.\d", "N", lines).splitlines()
    assert [re.sub(r"\d+\.\d", "N", line) for line in file.read_text().splitlines()[:3]] == shape


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
