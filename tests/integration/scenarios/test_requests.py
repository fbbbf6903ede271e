"""What REST validates, allows, shows and refuses, at whichever worker it is asked.

ConnectorValidationIntegrationTest counts errors as Kafka Connect does, ConnectorClientPolicyIntegrationTest
changes settings of clients, ConnectorTopicsIntegrationTest shows the topics of a connector (KIP-558),
SessionedProtocolIntegrationTest asks as a worker. Of the topics, testTopicTrackingIsDisabled is in
`apart/test_connect_worker_outages.py`, whose system has it disabled; testTopicTrackingResetIsDisabled in
`switches/test_topic_switches.py`, for the same reason.

RestForwardingIntegrationTest: there a follower passes a request on to the leader, at the URL that one
advertises. Here any gateway carries it out, so two of them stand for the two: what the one is given, the
other has, over http and https.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2
import pytest
from copycat_embedded.ports import free_ports
from copycat_testkit.certificates import Authority
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import (
    SINK_CONFIG,
    SOURCE,
    SOURCE_CONFIG,
    WITHOUT,
    LineFile,
    Monitor,
    errors,
    is_created,
)
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = pytest.mark.timeout(300)

Rows = Mapping[str, tuple[Mapping[str, str], int]]

SINKS: Final[Rows] = {
    "sink_connector_has_neither_topics_list_nor_topics_regex": ({"topics": WITHOUT}, 2),
    "sink_connector_has_both_topics_list_and_topics_regex": ({"topics.regex": "r.*"}, 2),
    "sink_connector_dead_letter_queue_topic_in_topics_list": (
        {"topics": "t1,t2,dlq", "errors.deadletterqueue.topic.name": "dlq"},
        1,
    ),
    "sink_connector_dead_letter_queue_topic_matches_topics_regex": (
        {"topics": WITHOUT, "topics.regex": "d.*", "errors.deadletterqueue.topic.name": "dlq"},
        1,
    ),
}
SOURCES: Final[Rows] = {
    "source_connector_has_duplicate_topic_creation_groups": (
        {
            "topic.creation.groups": "g,g",
            "topic.creation.g.include": "t",
            "topic.creation.default.partitions": "1",
            "topic.creation.default.replication.factor": "1",
        },
        1,
    ),
    "connector_has_duplicate_transformations": (
        {"transforms": "t,t", "transforms.t.type": "Filter"},
        1,
    ),
    "connector_has_missing_transform_class": (
        {"transforms": "t", "transforms.t.type": "no.such.Transform"},
        1,
    ),
    "connector_has_invalid_transform_class": ({"transforms": "t", "transforms.t.type": SOURCE}, 1),
    "connector_has_negation_for_undefined_predicate": (
        {"transforms": "t", "transforms.t.type": "Filter", "transforms.t.negate": "true"},
        1,
    ),
    "connector_has_duplicate_predicates": (
        {"predicates": "p,p", "predicates.p.type": "RecordIsTombstone"},
        1,
    ),
    "connector_has_missing_predicate_class": (
        {"predicates": "p", "predicates.p.type": "no.such.Predicate"},
        1,
    ),
    "connector_has_invalid_predicate_class": ({"predicates": "p", "predicates.p.type": SOURCE}, 1),
}


def converters(word: str, key: str, suffix: str) -> Rows:
    """Return the rows about a kind of converters."""
    return {
        f"connector_has_missing_{word}_class": ({key: "no.such.Converter"}, 1),
        f"connector_has_invalid_{word}_class_type": ({key: SOURCE}, 1),
        f"connector_has_abstract_{word}": ({key: f"awkward.Abstract{suffix}"}, 1),
        f"connector_has_{word}_with_no_suitable_constructor": ({key: f"awkward.Demanding{suffix}"}, 1),
        f"connector_has_{word}_that_throws_exception_on_instantiation": (
            {key: f"awkward.Failing{suffix}"},
            1,
        ),
        f"connector_has_misconfigured_{word}": (
            {key: f"awkward.Needy{suffix}", f"{key}.needed": "perhaps"},
            1,
        ),
        f"connector_has_{word}_with_no_config_def": ({key: f"awkward.Plain{suffix}"}, 0),
    }


CONVERTERS: Final[Rows] = {
    **converters("converter", "value.converter", "Converter"),
    **converters("header_converter", "header.converter", "HeaderConverter"),
}


@pytest.mark.parametrize("row", SINKS)
def test_connector_validation_of_sinks(cluster: Cluster, row: str) -> None:
    change, count = SINKS[row]

    assert errors(cluster, {**SINK_CONFIG, **change}) == count


@pytest.mark.parametrize("row", [*SOURCES, *CONVERTERS])
def test_connector_validation(cluster: Cluster, row: str) -> None:
    change, count = {**SOURCES, **CONVERTERS}[row]

    assert errors(cluster, {**SOURCE_CONFIG, **change}) == count


def test_create_with_allowed_overrides_for_default_policy(cluster: Cluster, tmp_path: Path) -> None:
    is_created(cluster.rest, tmp_path, producer_override_client_id="mine")


def topics(rest: Rest, name: str) -> set[str]:
    """Return the active topics of a connector."""
    return set(rest.get(f"/connectors/{name}/topics")[name]["topics"])


def become(rest: Rest, name: str, *expected: str) -> None:
    """Wait until these are the active topics."""
    wait_until(lambda: topics(rest, name) == set(expected), PATIENCE, f"{name} uses {expected}")


def test_get_active_topics(cluster: Cluster, rest: Rest, tmp_path: Path) -> None:
    """testGetActiveTopics: of each its own, gone with it, and back after a reset when used again."""
    foo, bar = (create_topic(cluster.bootstrap, unique(name)) for name in ("foo", "bar"))
    sink = unique("sink")
    for name in (foo, bar, sink):
        become(rest, name)
    for name in (foo, bar):
        rest.create(name, Monitor(tmp_path / name).source(name))
        become(rest, name, name)
    rest.delete(bar)
    become(rest, bar)
    become(rest, foo, foo)

    monitor = Monitor(tmp_path / sink)
    rest.create(sink, monitor.sink(f"{foo},{bar}"))
    become(rest, sink, foo, bar)
    rest.ok("PUT", f"/connectors/{sink}/topics/reset")
    become(rest, sink)
    produce(cluster.bootstrap, foo, [b"new"])
    become(rest, sink, foo)


FORGED = {
    "X-Connect-Authorization": "S2Fma2Flc3F1ZQ==",
    "X-Connect-Request-Signature-Algorithm": "HmacSHA256",
}


def test_ensure_internal_endpoint_is_secured(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """ensureInternalEndpointIsSecured: unsigned 400, wrongly signed 403, with or without the connector."""
    name = unique("internal")
    url = f"{cluster.up.url}/connectors/{name}/tasks"

    def answers() -> list[int]:
        return [httpx2.post(url, json=[], headers=each, timeout=60).status_code for each in ({}, FORGED)]

    assert answers() == [400, 403]
    rest.create(name, monitor.source(name))
    rest.runs(name)
    assert answers() == [400, 403]
    assert len(rest.get(f"/connectors/{name}/tasks")) == 1


HTTP, HTTPS = "http", "https"
PASSWORD = "of-this-test"


@dataclass
class Workers:
    """Starts gateways and calls them; what it trusts was made for this test."""

    cluster: Cluster
    folder: Path

    def __post_init__(self) -> None:
        self.authority = Authority(self.folder)
        self.tls = ssl.create_default_context(cafile=self.authority.file)

    @contextmanager
    def gateway(self, *schemes: str, advertised: str = HTTP, **ssl_keys: str) -> Iterator[list[Rest]]:
        """Run a gateway that listens with these schemes; gives a way in by each."""
        urls = [f"{scheme}://127.0.0.1:{free_ports(1)[0]}" for scheme in schemes]
        keys = {"keystore.type": "PKCS12", "keystore.password": PASSWORD, **ssl_keys}
        keys["keystore.location"] = str(self.authority.pkcs12(unique("worker"), PASSWORD))
        more = {f"listeners.https.ssl.{key.replace('_', '.')}": value for key, value in keys.items()}
        told = {"listeners": ",".join(urls), "rest.advertised.listener": advertised}
        with self.cluster.gateway({**more, **told}, self.tls):
            yield [Rest(url, self.tls) for url in urls]

    def forward(self, follower: list[Rest], leader: list[Rest]) -> None:
        """Post to the follower by every way; the leader has it, by every way."""
        for asked in follower:
            name = unique("forwarded")
            config = {**LineFile(self.folder / "in.txt").source(name), "name": name}
            created = asked.call(
                "POST", "/connectors", {"name": name, "config": config, "initial_state": "STOPPED"}
            )
            assert (created.status_code, created.json()["config"]) == (201, config)
            assert [rest.get(f"/connectors/{name}/config") for rest in leader] == [config] * len(leader)
            assert leader[0].call("DELETE", f"/connectors/{name}").status_code == 204
            assert asked.call("GET", f"/connectors/{name}").status_code == 404


@pytest.fixture
def workers(cluster: Cluster, tmp_path: Path) -> Workers:
    return Workers(cluster, tmp_path)


@pytest.mark.long
def test_rest_forward_no_ssl(workers: Workers) -> None:
    """TestRestForwardNoSsl."""
    with workers.gateway(HTTP) as follower, workers.gateway(HTTP) as leader:
        workers.forward(follower, leader)


@pytest.mark.long
def test_rest_forward_no_ssl_dual_listener(workers: Workers) -> None:
    """TestRestForwardNoSslDualListener."""
    with workers.gateway(HTTP, HTTPS) as follower, workers.gateway(HTTP, HTTPS) as leader:
        workers.forward(follower, leader)


@pytest.mark.long
def test_rest_forward_leader_ssl(workers: Workers) -> None:
    """TestRestForwardLeaderSsl."""
    with workers.gateway(HTTP) as follower, workers.gateway(HTTPS, advertised=HTTPS) as leader:
        workers.forward(follower, leader)


@pytest.mark.long
def test_rest_forward_follower_ssl(workers: Workers) -> None:
    """TestRestForwardFollowerSsl."""
    with workers.gateway(HTTPS, advertised=HTTPS) as follower, workers.gateway(HTTP) as leader:
        workers.forward(follower, leader)


@pytest.mark.long
def test_rest_forward_ssl_dual_listener(workers: Workers) -> None:
    """TestRestForwardSslDualListener."""
    with (
        workers.gateway(HTTP, HTTPS, advertised=HTTPS) as follower,
        workers.gateway(HTTP, HTTPS, advertised=HTTPS) as leader,
    ):
        workers.forward(follower, leader)


@pytest.mark.long
def test_rest_forward_ssl(workers: Workers) -> None:
    """TestRestForwardSsl."""
    with (
        workers.gateway(HTTPS, advertised=HTTPS) as follower,
        workers.gateway(HTTPS, advertised=HTTPS) as leader,
    ):
        workers.forward(follower, leader)


@pytest.mark.long
def test_rest_forward_to_workers_that_want_to_know_their_clients(workers: Workers) -> None:
    """The same with ssl.client.auth=required: nobody without a certificate, everybody with a trusted one."""
    trust = {"truststore_type": "PEM", "truststore_location": str(workers.authority.file)}
    stranger = Rest("", ssl.create_default_context(cafile=workers.authority.file))
    workers.tls.load_cert_chain(workers.authority.pem("client"))
    with (
        workers.gateway(HTTPS, client_auth="required", **trust) as follower,
        workers.gateway(HTTPS, client_auth="required", **trust) as leader,
    ):
        workers.forward(follower, leader)
        with pytest.raises(httpx2.TransportError):
            stranger.call("GET", f"{follower[0].url}/connectors")
