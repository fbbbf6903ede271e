"""A whole system that logs in with tokens and encrypts gRPC: it works, and listens where the page says."""

from __future__ import annotations

from collections.abc import Iterator

import grpc
import pytest
from copycat_client.client import CopycatClient
from copycat_launcher.readiness import probe
from copycat_launcher.roles import GRPC_ROLES, ROLES
from copycat_rpc.role import read_properties
from copycat_testkit.certificates import Authority
from copycat_testkit.kafka import unique, wait_until
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.integration.emitting.bench import AUTHOR
from tests.integration.emitting.system import System
from tests.integration.listening import LOOPBACK, documented, hosts, listening, ports_by_kind
from tests.integration.logins.broker import Broker
from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.rest import PATIENCE

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def guarded(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """Run one executor and every service; nothing of it speaks in plain text but REST, on loopback.

    It runs on Spark, whose ports are documented as well.
    """
    folder = tmp_path_factory.mktemp("guarded")
    authority = Authority(folder)
    settings = {
        **broker.worker("OAUTHBEARER"),
        "services.ssl.keystore.type": "PEM",
        "services.ssl.keystore.location": str(authority.pem("service")),
        "services.ssl.truststore.type": "PEM",
        "services.ssl.truststore.location": str(authority.file),
    }
    plugins = {"PYTHONPATH": str(AUTHOR)}
    with Cluster(broker.bootstrap, folder / "data", 1, settings, plugins, spark=True).running() as running:
        yield System(running, folder)


def properties_of(guarded: System) -> dict[str, str]:
    return read_properties(guarded.cluster.folder / "worker.properties")


def test_records_go_in_and_out(guarded: System) -> None:
    topic = unique("through")
    source = guarded.emitter("", f"{topic} one", f"{topic} two")
    sink = guarded.sink(unique("sink"), topics=topic)
    out = guarded.folder / f"{sink}.out"
    wait_until(lambda: out.exists() and out.read_text() == "one\ntwo\n", 2 * PATIENCE, "both records")
    for name in (source, sink):
        guarded.rest.delete(name)


def test_probes_and_clients_find_their_way_by_the_properties(guarded: System) -> None:
    probe(guarded.cluster.folder / "worker.properties", ROLES)


async def test_the_typed_client_does_too(guarded: System) -> None:
    async with CopycatClient.from_properties(properties_of(guarded)) as client:
        assert all((await client.health(timeout=60)).values())
        assert (await (await client.executors.any()).plugins()) != ()


def test_plain_text_reaches_nobody(guarded: System) -> None:
    properties = properties_of(guarded)
    workers = guarded.rest.workers()
    addresses = {role.address(properties) for role in GRPC_ROLES if role.name != "executor"} | workers
    assert len(addresses) == len(GRPC_ROLES)
    for address in addresses:
        with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as caught:
            health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=60)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


def test_nothing_listens_but_what_is_documented(guarded: System) -> None:
    found, properties = listening(guarded.cluster.up.pid), properties_of(guarded)

    assert ports_by_kind(found) == documented()
    assert hosts(found) <= LOOPBACK
    for role in ROLES:
        ports = {port for _, port in found[role.name]}
        assert int(role.address(properties).rpartition(":")[2]) in ports, role.name
