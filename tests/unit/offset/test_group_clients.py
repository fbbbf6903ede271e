"""The clients for consumer groups that connectors ask for.

What brokers say of an offsets topic while they still agree on its leader passes; a refusal does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.errors import ConfigError, UnavailableError
from copycat_offset.adapters.group_clients import MAX_CLIENTS, KafkaGroupClients
from copycat_offset.adapters.groups import KafkaGroups
from copycat_offset.adapters.own_topic_clients import TopicAddress, TopicReader
from copycat_offset.domain.errors import OffsetsTopicError
from copycat_offset.domain.moves import Unplaced

PACKAGE = "org.apache.kafka.connect.connector.policy."
FILES = {
    "config.providers": "file",
    "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
}
SERVERS = "consumer.override.bootstrap.servers"
LOGIN = "admin.override.sasl.jaas.config"


def clients(**worker: str) -> KafkaGroupClients:
    given = {"bootstrap.servers": "127.0.0.1:1", **FILES}
    given |= {key.replace("_", "."): value for key, value in worker.items()}
    return KafkaGroupClients(given, KafkaGroups("127.0.0.1:1", {}), Placeholders.from_worker(given, {}))


async def test_without_overrides_of_the_connection_the_workers_own_client_is_used() -> None:
    async with aclosing(clients()) as it:
        own = await it.of({})
        assert await it.of({"consumer.override.group.id": "g"}) is own
        assert await it.of({SERVERS: "127.0.0.1:1"}) is own
        assert await it.of({SERVERS: "127.0.0.1:2"}) is not own


async def test_a_client_is_kept_for_the_same_overrides_and_made_anew_when_a_secret_changes(
    tmp_path: Path,
) -> None:
    file = tmp_path / "secrets"
    file.write_text("servers=127.0.0.1:2\n")
    written = {SERVERS: f"${{file:{file}:servers}}"}
    async with aclosing(clients()) as it:
        first = await it.of(written)
        assert await it.of(written) is first
        file.write_text("servers=127.0.0.1:3\n")
        assert await it.of(written) is not first


async def test_clients_are_bounded() -> None:
    async with aclosing(clients()) as it:
        first = await it.of({SERVERS: "127.0.0.1:2"})
        for port in range(3, 3 + MAX_CLIENTS):
            await it.of({SERVERS: f"127.0.0.1:{port}"})
        assert await it.of({SERVERS: "127.0.0.1:2"}) is not first


@pytest.mark.parametrize(
    ("policy", "refused"),
    [
        ("All", set()),
        ("None", {SERVERS, LOGIN}),
        ("Principal", {SERVERS}),
        ("Allowlist", {LOGIN}),
        (f"{PACKAGE}NoneConnectorClientConfigOverridePolicy", {SERVERS, LOGIN}),
    ],
)
async def test_the_policy_of_the_worker_holds_for_groups(policy: str, refused: set[str]) -> None:
    worker = {
        "connector_client_config_override_policy": policy,
        "connector_client_config_override_allowlist": "bootstrap.servers",
    }
    async with aclosing(clients(**worker)) as it:
        for key in (SERVERS, LOGIN):
            if key in refused:
                with pytest.raises(ConfigError, match=f"not allowed: .*Remove {key}"):
                    await it.of({key: "x:1"})
            else:
                await it.of({key: "x:1"})


async def test_what_a_group_client_cannot_follow_is_named_without_a_secret() -> None:
    overrides = {
        SERVERS: "127.0.0.1:2",
        "consumer.override.security.protocol": "SASL_PLAINTEXT",
        "consumer.override.sasl.mechanism": "GSSAPI",
        "consumer.override.sasl.jaas.config": 'Module required password="hidden";',
    }
    async with aclosing(clients()) as it:
        with pytest.raises(ConfigError, match=r"sasl\.mechanism=GSSAPI is not supported") as refused:
            await it.of(overrides)
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize(
    ("worker", "override", "begins"),
    [
        (None, None, Unplaced.BEGINNING),
        ("latest", None, Unplaced.END),
        ("latest", "Earliest ", Unplaced.BEGINNING),
        (None, "none", Unplaced.UNKNOWN),
        (None, "by_duration:PT1H", Unplaced.UNKNOWN),
    ],
)
async def test_where_a_consumer_without_a_position_begins_is_known(
    worker: str | None, override: str | None, begins: Unplaced
) -> None:
    async with aclosing(clients(**({"consumer_auto_offset_reset": worker} if worker else {}))) as it:
        overrides = {"consumer.override.auto.offset.reset": override} if override else {}
        assert it.unplaced(overrides) is begins


PLACE = TopicAddress("offsets", "127.0.0.1:1", 60.0)


@pytest.mark.parametrize(
    "code",
    [KafkaError.UNKNOWN_LEADER_EPOCH, KafkaError.FENCED_LEADER_EPOCH, KafkaError.LEADER_NOT_AVAILABLE],
)
def test_disagreement_about_a_leader_is_waited_for(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(PLACE.failure(KafkaError(code)), UnavailableError)
    answers: list[Mapping[int, int] | KafkaException] = [KafkaException(KafkaError(code)), {}]

    def ends(_: TopicReader) -> Mapping[int, int]:
        answer = answers.pop(0)
        if isinstance(answer, KafkaException):
            raise answer
        return answer

    monkeypatch.setattr(TopicReader, "_ask_for_ends", ends)  # brokers cannot be made to disagree
    reader = TopicReader({"bootstrap.servers": PLACE.servers}, PLACE, "read_committed")
    assert list(reader.read()) == []
    assert answers == []
    reader.close()


def test_a_refusal_names_the_topic_and_the_keys_to_correct() -> None:
    failure = PLACE.failure(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))
    assert isinstance(failure, OffsetsTopicError)
    assert "offsets topic offsets" in str(failure)
    assert "consumer.override.*" in str(failure)
