"""One guarded broker, and on it a host and a whole system."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AclOperation, ResourceType
from copycat_connect.config.properties import format_properties

from tests.integration.emitting.bench import Bench, System, bench, system
from tests.integration.guarded.broker import SECURE, GuardedKafka, client_of, guarded_kafka, login

WRITING = (AclOperation.WRITE, AclOperation.DESCRIBE)
CREATING = (AclOperation.CREATE, AclOperation.DESCRIBE)
READING = (AclOperation.READ,)


@pytest.fixture(scope="package")
def walls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedKafka]:
    """A broker where alice may write, bob create, dave and eve read (she in no group), carol do nothing."""
    with guarded_kafka(tmp_path_factory.mktemp("walls")) as kafka:
        kafka.allow("alice", ResourceType.TOPIC, "k158", *WRITING)
        kafka.allow("alice", ResourceType.GROUP, "connect-", *READING)
        for creator in ("bob", "creator"):
            kafka.allow(creator, ResourceType.TOPIC, "k158", *CREATING)
        kafka.allow("dave", ResourceType.TOPIC, "k158", *READING)
        kafka.allow("dave", ResourceType.GROUP, "connect-", *READING)
        kafka.allow("eve", ResourceType.TOPIC, "k158", *READING)
        yield kafka


@pytest.fixture(scope="module")
def guarded(walls: GuardedKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Tasks on that broker."""
    with bench(walls.bootstrap, tmp_path_factory.mktemp("guarded"), client_of("admin")) as running:
        yield running


@pytest.fixture(scope="module")
def walled(walls: GuardedKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A system on it that may do all, whose connectors may do nothing, and change who they are only.

    Its own password stands in a file that its properties name.
    """
    folder = tmp_path_factory.mktemp("walled")
    secrets = folder / "secrets.properties"
    secrets.write_text(format_properties({"admin": login("admin")}), "utf-8")
    settings = {
        "config.providers": "file",
        "config.providers.file.class": "FileConfigProvider",
        **{
            f"{client}{key}": value
            for client in ("", "producer.", "consumer.")
            for key, value in SECURE.items()
        },
        "sasl.jaas.config": f"${{file:{secrets}:admin}}",
        "producer.sasl.jaas.config": login("carol"),
        "consumer.sasl.jaas.config": login("carol"),
        "connector.client.config.override.policy": "Principal",
    }
    with system(walls.bootstrap, folder, settings) as running:
        yield running


@pytest.fixture
def on(walled: System) -> Iterator[System]:
    """The same; what a test leaves behind is deleted."""
    yield walled
    walled.rest.clean()
