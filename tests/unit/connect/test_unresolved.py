"""Passwords that are placeholders still are refused, before a server is sent their letters."""

from __future__ import annotations

import pytest
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.plugin import CONNECTORS, load_plugins
from copycat_connect.validation import WorkerRules, validate_connector

PLUGINS = load_plugins()
JSON = "org.apache.kafka.connect.json.JsonConverter"
ENV = {
    "config.providers": "env",
    "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
}


def errors_of_password(password: str, worker: dict[str, str]) -> list[str]:
    spec = PLUGINS.find("JdbcSource", CONNECTORS)
    config = {
        "name": "shop",
        "connector.class": "JdbcSource",
        "connection.url": "jdbc:postgresql://localhost/shop",
        "connection.password": password,
        "mode": "bulk",
        "topic.prefix": "shop-",
    }
    resolved = Placeholders.from_worker(worker, {"PGPASSWORD": "of-the-shop"}).resolve(config)
    rules = WorkerRules.of({"key.converter": JSON, "value.converter": JSON})
    infos = validate_connector(resolved, spec, PLUGINS, rules, spec.factory())
    [errors] = [info.value.errors for info in infos.infos if info.name == "connection.password"]
    return list(errors)


@pytest.mark.parametrize(("name", "worker"), [("PGPASSWORD", {}), ("ABSENT", ENV)])
def test_a_password_that_nobody_looked_up_is_refused_with_the_way_to_have_it(
    name: str, worker: dict[str, str]
) -> None:
    assert errors_of_password(f"${{env:{name}}}", worker) == [
        "connection.password is a placeholder that nobody replaced: the worker has no config provider env, or"
        " that one has no such entry. Set config.providers=env and config.providers.env.class among the"
        " worker properties and give the entry, or write the value itself"
    ]


@pytest.mark.parametrize("password", ["${env:PGPASSWORD}", "secret", "a${env:b", "x${env:PGPASSWORD}y", ""])
def test_any_other_password_is_taken(password: str) -> None:
    assert errors_of_password(password, ENV) == []
