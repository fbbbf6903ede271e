"""The declared topics are those the services would create themselves."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from copycat_config import settings as config
from copycat_eventlog.owner import owner_topic
from copycat_eventlog.past.settings import PARTITIONS, TOPIC, ChangesSettings
from copycat_eventlog.settings import Backend, LogSettings
from copycat_eventlog.topics import COMPACT, POLICY
from copycat_launcher.core import services_log
from copycat_launcher.worker_properties import up_properties
from copycat_offset import settings as offset
from copycat_scheduler import settings as scheduler
from copycat_status import settings as status

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
