"""What deploy/ declares is what there is: topics, examples, alerts and error codes, rows of a table."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from copycat_cli.connector_files import read_connector_file
from copycat_config import settings as config
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.config.properties import parse_properties
from copycat_connect.plugin import load_plugins
from copycat_connect.validation import WorkerRules, connector_plugin, validate_connector
from copycat_eventlog.owner import owner_topic
from copycat_eventlog.past.settings import PARTITIONS, TOPIC, ChangesSettings
from copycat_eventlog.settings import Backend, LogSettings
from copycat_eventlog.topics import COMPACT, POLICY
from copycat_launcher.core import services_log
from copycat_launcher.worker_properties import up_properties
from copycat_offset import settings as offset
from copycat_scheduler import settings as scheduler
from copycat_status import settings as status

from tools.containers.strike import Outcome, page_rows

DEPLOY = Path(__file__).parents[3] / "deploy"
DECLARED: dict[str, list[dict[str, Any]]] = tomllib.loads((DEPLOY / "topics" / "topics.toml").read_text())
SERVICES = (config, offset, status, scheduler)
GROUP = "orders"


def logs() -> dict[str, LogSettings]:
    """Return each service's log by the property that names it; nothing is set but what must be."""
    names = {topic["setting"]: topic["name"] for topic in DECLARED["topic"]}
    worker = {"group.id": GROUP, **names}
    return {service.TOPIC.setting: service.read_settings(worker).log for service in SERVICES}


def test_every_service_has_its_topics_declared() -> None:
    assert [topic["setting"] for topic in DECLARED["topic"]] == list(logs())
    assert [election["of"] for election in DECLARED["election"]] == list(logs())


@pytest.mark.parametrize("declared", DECLARED["topic"], ids=lambda topic: topic["name"])
def test_a_log_is_declared_as_its_service_creates_it(declared: dict[str, Any]) -> None:
    log = logs()[declared["setting"]]
    assert declared == {
        "name": log.topic,
        "setting": log.setting,
        "holds": log.purpose,
        "partitions": log.partitions,
        "single_partition": log.single_partition,
        "replication_factor": log.replication_factor,
        "config": {**log.topic_configs, POLICY: COMPACT},
    }


@pytest.mark.parametrize("declared", DECLARED["election"], ids=lambda election: election["of"])
def test_an_election_is_declared_as_its_service_creates_it(declared: dict[str, Any]) -> None:
    log = logs()[declared["of"]]
    assert declared["name"].format(group=GROUP) == owner_topic(log.owner_id)
    assert (declared["partitions"], declared["replication_factor"]) == (1, log.replication_factor)


def test_the_names_are_those_of_a_system_started_by_one_command() -> None:
    started = up_properties("a:1", 8083, (), {})
    assert {t["setting"]: t["name"] for t in DECLARED["topic"]}.items() <= started.items()


def test_the_changes_topic_is_declared_as_services_create_it() -> None:
    made = ChangesSettings.read({"group.id": GROUP}, LogSettings(Backend.KAFKA), "config")
    declared = tomllib.loads((DEPLOY / "topics" / "topics.toml").read_text())["changes"]
    assert declared == {
        "name": made.topic.replace(GROUP, "{group}"),
        "setting": TOPIC.name,
        "partitions": PARTITIONS,
        "config": dict(made.topic_configs),
    }


def test_the_topics_of_services_that_run_together_are_declared_as_they_create_them() -> None:
    log = services_log({"group.id": GROUP, "bootstrap.servers": "k:9092"})
    compacted, plain = DECLARED["together"]
    assert compacted == {
        "name": log.topic.replace(GROUP, "{group}"),
        "partitions": log.partitions,
        "config": {POLICY: COMPACT},
    }
    assert plain == {
        "name": owner_topic(log.owner_id).replace(GROUP, "{group}"),
        "partitions": 1,
        "config": {},
    }


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


TOP = Path(__file__).parents[3]
MONITORING = TOP / "deploy" / "monitoring"
RUNBOOK = (MONITORING / "RUNBOOK.md").read_text("utf-8")


def test_each_alert_has_a_section_that_says_what_it_means_and_what_to_do() -> None:
    [group] = yaml.safe_load((MONITORING / "alerts.yml").read_text("utf-8"))["groups"]
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##)", RUNBOOK, re.MULTILINE | re.DOTALL))
    assert list(sections) == [rule["alert"] for rule in group["rules"]]
    assert [
        name for name, text in sections.items() if not re.search(r"\*\*Means\*\*.*\*\*Do\*\*", text, re.S)
    ] == []


def test_each_error_code_has_a_row() -> None:
    sources = [
        path.read_text("utf-8") for room in ("libs", "services") for path in (TOP / room).rglob("*.py")
    ]
    codes = {code for text in sources for code in re.findall(r'ErrorCode\(\s*"([\w.]+)"', text)}
    rows = re.findall(r"^\| `([\w.]+)` \|", RUNBOOK, re.MULTILINE)
    assert rows == sorted(codes)


def test_what_is_done_to_each_service_with_a_log_is_one_row() -> None:
    measured = [
        Outcome("clock of config an hour ahead", 0, 15.24, 0),
        Outcome("clock of scheduler an hour ahead", 0, 25.0, 4),
        Outcome("executor killed", 0, 1.9, 20),
        Outcome("leader of config cut off", 9.9, 20.4, 0),
        Outcome("leader of status cut off", 0, 20.4, 0),
    ]

    assert page_rows(measured) == [
        ("clock of config, scheduler an hour ahead", "-", "15.2 to 25.0", "0 to 4"),
        ("executor killed", "-", "1.9", "20"),
        ("leader of config, status cut off", "0.0 to 9.9", "20.4", "0"),
    ]
