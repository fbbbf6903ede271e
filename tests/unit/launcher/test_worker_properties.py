"""What `copycat up` tells its roles, and what a worker's properties must say."""

from __future__ import annotations

import pytest
from copycat_connect.errors import ConfigError
from copycat_launcher.roles import CONFIG, EXECUTOR, GATEWAY
from copycat_launcher.worker_properties import DISTRIBUTED, STORED, executor_properties, up_properties

PORTS = (1, 2, 3, 4, 5)


def test_the_names_are_those_kafka_ships() -> None:
    written = up_properties("127.0.0.1:9", 8083, PORTS, {})
    assert written["config.storage.topic"] == "connect-configs"
    assert written["value.converter"] == "org.apache.kafka.connect.json.JsonConverter"
    assert written["value.converter.schemas.enable"] == "true"
    assert DISTRIBUTED.parse(written)["group.id"] == "copycat"


def test_replication_is_the_brokers_default() -> None:
    written = up_properties("a:1", 8083, PORTS, {})
    factors = {key: value for key, value in written.items() if key.endswith("replication.factor")}
    assert factors == {f"{name}.storage.replication.factor": "-1" for name in STORED}


def test_every_role_is_found_where_it_listens() -> None:
    written = up_properties("a:1", 8083, PORTS, {})
    assert CONFIG.address(written) == written["config.addresses"] == "127.0.0.1:1"
    assert EXECUTOR.address(written) == "127.0.0.1:5"
    assert GATEWAY.address(written) == "127.0.0.1:8083"
    assert EXECUTOR.address(executor_properties(written, 6)) == "127.0.0.1:6"


def test_what_the_user_sets_wins() -> None:
    assert up_properties("a:1", 1, PORTS, {"group.id": "mine"})["group.id"] == "mine"


def test_a_service_listening_everywhere_is_reached_on_loopback() -> None:
    assert CONFIG.address({"config.listen": "0.0.0.0:9101"}) == "127.0.0.1:9101"
    assert GATEWAY.address({"listeners": "http://:8084,https://x:1"}) == "127.0.0.1:8084"
    assert GATEWAY.address({"listeners": "https://:8443"}) == "127.0.0.1:8443"
    assert GATEWAY.address({}) == "127.0.0.1:8083"


@pytest.mark.parametrize("key", list(DISTRIBUTED.keys))
def test_a_missing_key_is_refused_in_kafkas_words(key: str) -> None:
    complete = up_properties("a:1", 8083, PORTS, {})
    del complete[key]
    with pytest.raises(ConfigError) as refused:
        DISTRIBUTED.parse(complete)
    assert refused.value.message == f'Missing required configuration "{key}" which has no default value.'
