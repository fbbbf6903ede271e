"""Every example is valid by the validation a worker does, under the properties the compose file gives it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from copycat_cli.connector_files import read_connector_file
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.config.properties import parse_properties
from copycat_connect.plugin import load_plugins
from copycat_connect.validation import WorkerRules, connector_plugin, validate_connector

DEPLOY = Path(__file__).parents[3] / "deploy"
EXAMPLES = sorted((DEPLOY / "examples").glob("*.json"))
PLUGINS = load_plugins()


class Queries:
    """Stands for Spark, which checks a query's text; a sink's example was checked by Spark itself."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    @property
    def queries(self) -> Queries:
        return self

    def prepare(self, sql: str, columns: str) -> str:
        self.asked.append(f"{sql} {columns}")
        return "id BIGINT, amount DOUBLE"

    def run(self, sql: str, columns: str, batch: bytes) -> bytes:
        raise AssertionError((sql, columns, batch))


@pytest.fixture
def worker(tmp_path: Path) -> dict[str, str]:
    """Return the compose file's worker, its secrets in a folder that exists here."""
    given = parse_properties((DEPLOY / "compose" / "worker.properties").read_text("utf-8"))
    return {**given, "config.providers.file.param.allowed.paths": str(tmp_path)}


def placeholders_of(worker: Mapping[str, str], tmp_path: Path, config: Mapping[str, str]) -> dict[str, str]:
    secrets = tmp_path / "connectors.properties"
    secrets.write_text("registry.credentials=user:words\n", "utf-8")
    here = {key: value.replace("/run/secrets", str(tmp_path)) for key, value in config.items()}
    return Placeholders.from_worker(worker, {}).resolve(here)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_is_valid(file: Path, worker: dict[str, str], tmp_path: Path) -> None:
    example = read_connector_file(file)
    written = {key: value for key, value in example.config.items() if value is not None}
    config = placeholders_of(worker, tmp_path, {**written, "name": example.name})
    spec = connector_plugin(config, PLUGINS)
    found = validate_connector(config, spec, PLUGINS, WorkerRules.of(worker), spec.make(), context=Queries())
    assert found.error_count == 0, [info for info in found.infos if info.value.errors]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_no_key_of_an_example_is_a_slip(file: Path, worker: dict[str, str]) -> None:
    config: dict[str, Any] = json.loads(file.read_text("utf-8"))["config"]
    spec = connector_plugin(config, PLUGINS)
    found = validate_connector(
        {**config, "name": "x"}, spec, PLUGINS, WorkerRules.of(worker), spec.make(), context=Queries()
    )
    known = {info.value.name for info in found.infos}
    through = ("value.converter.", "key.converter.", "producer.override.", "consumer.override.")
    unknown = [
        key
        for key in config
        if key not in known and not key.startswith(through) and not key.startswith("topic.creation.")
    ]
    assert unknown == []


def test_the_examples_show_what_there_is() -> None:
    texts = "".join(file.read_text("utf-8") for file in EXAMPLES)
    for shown in (
        "FileStreamSource",
        "FileStreamSink",
        "DatagenSource",
        '"transforms"',
        '"predicates"',
        "errors.deadletterqueue.topic.name",
        "topic.creation.groups",
        "SparkSql",
        "PythonFunction",
        "${file:",
    ):
        assert shown in texts
