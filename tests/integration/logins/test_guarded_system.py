"""A whole system that logs in with tokens and encrypts gRPC: it works, and listens where the page says."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import grpc
import psutil
import pytest
from copycat_client.client import CopycatClient
from copycat_launcher.probe import probe
from copycat_launcher.roles import GRPC_ROLES, ROLES
from copycat_rpc.role import read_properties
from copycat_testkit.certificates import Authority
from copycat_testkit.kafka import unique, wait_until
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.integration.emitting.system import System, system
from tests.integration.logins.broker import Broker
from tests.integration.scenarios.rest import PATIENCE

SECURITY = Path(__file__).parents[3] / "services/launcher/SECURITY.md"


@pytest.fixture(scope="module")
def guarded(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """Run one executor and every service; nothing of it speaks in plain text but REST, on loopback."""
    folder = tmp_path_factory.mktemp("guarded")
    authority = Authority(folder)
    settings = {
        **broker.worker("OAUTHBEARER"),
        "services.ssl.keystore.type": "PEM",
        "services.ssl.keystore.location": str(authority.pem("service")),
        "services.ssl.truststore.type": "PEM",
        "services.ssl.truststore.location": str(authority.file),
    }
    with system(broker.bootstrap, folder, settings) as running:
        yield running


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


def kind_of(process: psutil.Process) -> str:
    """Return what SECURITY.md calls a process."""
    command = " ".join(process.cmdline())
    if process.name() == "java" or "copycat_executor.spark" in command:
        return "java" if process.name() == "java" else "spark"
    return next((role.name for role in ROLES if role.module in command), command)


def listening(guarded: System) -> Mapping[str, set[tuple[str, int]]]:
    """Return where each kind of process listens, as host and port."""
    found = defaultdict(set)
    up = psutil.Process(guarded.cluster.up.pid)
    for process in (up, *up.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # task hosts come and go
            for each in process.net_connections("tcp"):
                if each.status == psutil.CONN_LISTEN:
                    found[kind_of(process)].add((each.laddr.ip, each.laddr.port))
    return found


def test_nothing_listens_but_what_is_documented(guarded: System) -> None:
    found, properties = listening(guarded), properties_of(guarded)
    table = SECURITY.read_text("utf-8").split("<!-- listening -->")[1]
    documented = {kind: int(count) for kind, count in re.findall(r"^\| `(\w+)` \| (\d+) \|", table, re.M)}

    assert {kind: len({port for _, port in ports}) for kind, ports in found.items()} == documented
    hosts = {host for ports in found.values() for host, _ in ports}
    assert {host.removeprefix("::ffff:") for host in hosts} <= {"127.0.0.1", "::1"}
    for role in ROLES:
        ports = {port for _, port in found[role.name]}
        assert int(role.address(properties).rpartition(":")[2]) in ports, role.name
