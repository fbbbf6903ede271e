"""RestForwardingIntegrationTest: what one worker is asked for is done, whoever leads, over http and https.

There a follower passes a request on to the leader, at the URL that one advertises. Here any gateway carries
it out, so two of them stand for the two: what the one is given, the other has.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from copycat_embedded.ports import free_ports
from copycat_testkit.certificates import Authority
from copycat_testkit.kafka import unique

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.files import LineFile
from tests.integration.scenarios.rest import Rest

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

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


def test_rest_forward_no_ssl(workers: Workers) -> None:
    """TestRestForwardNoSsl."""
    with workers.gateway(HTTP) as follower, workers.gateway(HTTP) as leader:
        workers.forward(follower, leader)


def test_rest_forward_no_ssl_dual_listener(workers: Workers) -> None:
    """TestRestForwardNoSslDualListener."""
    with workers.gateway(HTTP, HTTPS) as follower, workers.gateway(HTTP, HTTPS) as leader:
        workers.forward(follower, leader)


def test_rest_forward_leader_ssl(workers: Workers) -> None:
    """TestRestForwardLeaderSsl."""
    with workers.gateway(HTTP) as follower, workers.gateway(HTTPS, advertised=HTTPS) as leader:
        workers.forward(follower, leader)


def test_rest_forward_follower_ssl(workers: Workers) -> None:
    """TestRestForwardFollowerSsl."""
    with workers.gateway(HTTPS, advertised=HTTPS) as follower, workers.gateway(HTTP) as leader:
        workers.forward(follower, leader)


def test_rest_forward_ssl_dual_listener(workers: Workers) -> None:
    """TestRestForwardSslDualListener."""
    with (
        workers.gateway(HTTP, HTTPS, advertised=HTTPS) as follower,
        workers.gateway(HTTP, HTTPS, advertised=HTTPS) as leader,
    ):
        workers.forward(follower, leader)


def test_rest_forward_ssl(workers: Workers) -> None:
    """TestRestForwardSsl."""
    with (
        workers.gateway(HTTPS, advertised=HTTPS) as follower,
        workers.gateway(HTTPS, advertised=HTTPS) as leader,
    ):
        workers.forward(follower, leader)


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
