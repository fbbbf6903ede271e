"""Config providers and client overrides: author code and brokers get them, and nobody sees a secret."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from copycat.types.v1 import types_pb2
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.kafka import consume_all, unique, wait_until
from copycat_testkit.vault import TOKEN, Vault, vault_server

from tests.integration.emitting.bench import Bench, System, bench, system
from tests.integration.scenarios.rest import PATIENCE

pytestmark = pytest.mark.long

#: Place and meaning of a record batch's compression, from the batch's attributes.
ATTRIBUTES = 21
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the broker keeps its topics."""
    return tmp_path_factory.mktemp("overrides")


@pytest.fixture(scope="module")
def tasks(place: Path) -> Iterator[Bench]:
    """Tasks on a broker whose files can be read."""
    with EmbeddedKafka(place) as kafka, bench(kafka.bootstrap, place) as running:
        yield running


def codec(place: Path, topic: str) -> str:
    """Return how the first batch of a topic was compressed by its producer."""
    written = (place / "log" / f"{topic}-0" / f"{0:020}.log").read_bytes()
    (attributes,) = struct.unpack_from(">h", written, ATTRIBUTES)
    return CODECS[attributes & 7]


@pytest.mark.parametrize("wanted", ["gzip", "zstd", "none"])
def test_records_are_compressed_as_the_connector_says_whatever_the_worker_says(
    tasks: Bench, place: Path, wanted: str
) -> None:
    name = unique("compressed")

    tasks.run(
        *[f"{name} {'x' * 100}"] * 100,
        config={"producer.override.compression.type": wanted},
        worker={"producer.compression.type": "lz4"},
    )

    tasks.written(name, 100)
    assert codec(place, name) == wanted


def test_the_worker_says_how_where_the_connector_does_not(tasks: Bench, place: Path) -> None:
    name = unique("compressed")

    tasks.run(*[f"{name} {'x' * 100}"] * 100, worker={"producer.compression.type": "lz4"})

    tasks.written(name, 100)
    assert codec(place, name) == "lz4"


def test_fewer_acknowledgements_are_enough_where_the_connector_says_so(tasks: Bench) -> None:
    patient, content = unique("patient"), unique("content")
    for name in (patient, content):
        topic = NewTopic(name, 1, 1, config={"min.insync.replicas": "2"})
        tasks.admin.create_topics([topic])[name].result(60)

    waiting = tasks.run(patient)
    tasks.run(content, config={"producer.override.acks": "1"})

    assert tasks.written(content, 1) == ["v"]
    assert patient not in tasks.executor.topics
    assert [each.state for each in tasks.executor.states if each.task == waiting] == [types_pb2.STATE_RUNNING]


WORDS = {"file": "word-of-the-file-81", "dir": "word-of-the-folder-82", "env": "word-of-the-environment-83"}
OUTSIDE = "word-from-outside-84"
PACKAGE = "org.apache.kafka.common.config.provider"
ROOMS = ("config", "offset", "status", "scheduler", "executor", "gateway")


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of secrets, the only one a provider may read."""
    folder = tmp_path_factory.mktemp("vault")
    (folder / "secrets.properties").write_text(f"word={WORDS['file']}\n")
    (folder / "word").write_text(WORDS["dir"])
    return folder


@pytest.fixture(scope="module")
def safe() -> Iterator[Vault]:
    """What answers like a Vault."""
    with vault_server() as running:
        yield running


@pytest.fixture(scope="module")
def guarded(
    kafka: str, vault: Path, safe: Vault, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[System]:
    """A system with every provider, and few client settings a connector may override."""
    token = tmp_path_factory.mktemp("token") / "token"
    token.write_text(TOKEN)
    settings = {
        "config.providers": "file,dir,env,safe",
        "config.providers.safe.class": "VaultConfigProvider",
        "config.providers.safe.param.address": safe.address,
        "config.providers.safe.param.token.file": str(token),
        "config.providers.file.class": f"{PACKAGE}.FileConfigProvider",
        "config.providers.file.param.allowed.paths": str(vault),
        "config.providers.dir.class": f"{PACKAGE}.DirectoryConfigProvider",
        "config.providers.dir.param.allowed.paths": str(vault),
        "config.providers.env.class": f"{PACKAGE}.EnvVarConfigProvider",
        "config.providers.env.param.allowlist.pattern": "COPYCAT_TEST_.*",
        "connector.client.config.override.policy": "Allowlist",
        "connector.client.config.override.allowlist": "client.id,group.id",
    }
    environment = {"COPYCAT_TEST_WORD": WORDS["env"], "HIDDEN_FROM_CONNECTORS": OUTSIDE}
    with system(kafka, tmp_path_factory.mktemp("guarded"), settings, **environment) as running:
        yield running


def placeholders(vault: Path) -> dict[str, str]:
    return {
        "own__file": f"${{file:{vault / 'secrets.properties'}:word}}",
        "own__dir": f"${{dir:{vault}:word}}",
        "own__env": "user ${env:COPYCAT_TEST_WORD} of the house",
    }


def everything_told(guarded: System, name: str) -> str:
    """Return all that leaves the hosts: answers over REST, records of internal topics, logs."""
    paths = ("", "/config", "/tasks", "/tasks-config", "/status", "/topics", "/offsets", "/history")
    told = [guarded.rest.call("GET", f"/connectors/{name}{path}").text for path in paths]
    told.append(guarded.rest.call("GET", "/connectors?expand=info&expand=status").text)
    config = guarded.rest.get(f"/connectors/{name}/config")
    told.append(guarded.rest.call("PUT", "/connector-plugins/Emitter/config/validate", config).text)
    for topic in ("configs", "offsets", "status", "assignments", "changes"):
        read = consume_all(guarded.cluster.bootstrap, guarded.cluster.topic(topic))
        told += [str(part) for message in read for part in (message.key(), message.value())]
    told += [guarded.cluster.log(room) for room in ROOMS]
    told += [file.read_text() for file in (guarded.folder / "data").glob("*.properties")]
    return "\n".join(told)


def given(file: Path, part: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(Path(f"{file}.{part}").read_text())
    return {key: value for key, value in found.items() if key.startswith("own.")}


@pytest.mark.timeout(300)
def test_connector_and_tasks_get_the_values_and_nobody_else_sees_them(guarded: System, vault: Path) -> None:
    topic, started = unique("secret"), guarded.folder / unique("started")

    name = guarded.emitter("", topic, emit__started=str(started), **placeholders(vault))

    guarded.has_topics(name, topic)
    resolved = {
        "own.file": WORDS["file"],
        "own.dir": WORDS["dir"],
        "own.env": f"user {WORDS['env']} of the house",
    }
    assert given(started, "connector") == resolved
    assert given(started, "task") == resolved
    told = everything_told(guarded, name)
    assert not [word for word in WORDS.values() if word in told]
    assert "${env:COPYCAT_TEST_WORD}" in told


@pytest.mark.timeout(300)
def test_a_connector_reads_again_what_was_lent_to_it(guarded: System, safe: Vault) -> None:
    expected = "word-of-the-new-lease-86"
    topic, started, path = unique("lent"), guarded.folder / unique("started"), f"secret/data/{unique()}"
    safe.secrets[path], safe.lease_seconds = {"word": "word-of-the-old-lease-85"}, 5
    written = f"${{safe:{path}:word}}"
    name = guarded.emitter("", topic, emit__started=str(started), own__lent=written)
    guarded.has_topics(name, topic)
    assert given(started, "task") == given(started, "connector") == {"own.lent": "word-of-the-old-lease-85"}
    safe.secrets[path] = {"word": expected}

    for part in ("connector", "task"):
        wait_until(
            lambda part=part: given(started, part) == {"own.lent": expected},  # type: ignore[misc]
            PATIENCE,
            f"the {part} has the new word",
        )
    told = everything_told(guarded, name)
    assert "connector restarts to read its secrets again" in told
    assert not [word for word in ("word-of-the-old-lease-85", expected, TOKEN) if word in told]
    guarded.rest.delete(name)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("part", ["connector", "task"])
@pytest.mark.parametrize("kind", ["file", "env"])
def test_a_failure_that_names_a_secret_is_told_with_the_placeholder(
    guarded: System, vault: Path, part: str, kind: str
) -> None:
    login = placeholders(vault)[f"own__{kind}"]

    name = guarded.emitter("", emit__login=login, emit__fails=part)

    guarded.rest.wait(name, *(["FAILED"] if part == "connector" else ["RUNNING", "FAILED"]))
    status = guarded.rest.get(f"/connectors/{name}/status")
    failed = status["connector"] if part == "connector" else status["tasks"][0]
    assert f"cannot log in with {login}" in failed["trace"]
    told = everything_told(guarded, name)
    assert not [word for word in WORDS.values() if word in told]


@pytest.mark.timeout(300)
def test_what_a_provider_may_not_read_stays_as_it_is_written(guarded: System, tmp_path: Path) -> None:
    outside = tmp_path / "outside.properties"
    outside.write_text(f"word={OUTSIDE}\n")
    started = guarded.folder / unique("started")
    written = {"own__file": f"${{file:{outside}:word}}", "own__env": "${env:HIDDEN_FROM_CONNECTORS}"}

    name = guarded.emitter("", emit__started=str(started), **written)

    guarded.rest.runs(name)
    literally = {key.replace("__", "."): value for key, value in written.items()}
    assert given(started, "connector") == literally
    assert given(started, "task") == literally
    assert f"The path {outside} is not allowed to be accessed" in guarded.cluster.log("executor")
    assert OUTSIDE not in everything_told(guarded, name)


@pytest.mark.timeout(300)
def test_only_settings_the_policy_lists_may_be_overridden(guarded: System) -> None:
    config = guarded.emitter_config(
        "refused", producer__override__acks="1", producer__override__client__id="x"
    )

    reply = guarded.rest.call("POST", "/connectors", {"name": unique("refused"), "config": config})

    assert reply.status_code == 400
    assert (
        "The 'Allowlist' policy does not allow 'acks' to be overridden in the connector configuration."
        in reply.text
    )
    assert "'client.id'" not in reply.text


def committed(admin: AdminClient, group: str, topic: str) -> int:
    wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0)])
    found = admin.list_consumer_group_offsets([wanted])[group].result(60)
    return int(found.topic_partitions[0].offset)


@pytest.mark.timeout(300)
def test_an_overridden_group_is_where_a_sink_commits(guarded: System) -> None:
    topic, group = unique("grouped"), unique("own-group")
    guarded.emitter("", topic)

    name = guarded.sink(unique("sink"), topics=topic, consumer__override__group__id=group)

    admin = AdminClient({"bootstrap.servers": guarded.cluster.bootstrap})
    wait_until(lambda: committed(admin, group, topic) == 1, PATIENCE, f"{name} committed as {group}")
