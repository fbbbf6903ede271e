"""The client's examples on a real system, and what its services say to any gRPC client."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceStub
from copycat.types.v1 import types_pb2
from copycat_client.client import CopycatClient
from copycat_client.configs import Configs
from copycat_client.executors import Executor, Executors
from copycat_client.offsets import Offsets
from copycat_client.scheduler import Scheduler
from copycat_client.statuses import Statuses
from copycat_rpc.role import read_properties
from copycat_testkit.system import CopycatUp, names
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(240), pytest.mark.long]


@pytest.fixture(scope="module")
def worker(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A system; gives the file that says where its services are."""
    folder = tmp_path_factory.mktemp("client")
    settings = {
        **names("client"),
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        "offset.flush.interval.ms": "300",
    }
    with CopycatUp(folder, kafka, settings=settings, environment=on_plain_hosts()):
        yield folder / "worker.properties"


EXAMPLES = Path(__file__).parents[3] / "libs/client/examples"
SAID = {
    "configs": """
        created True
        refused connector.exists
        target state PAUSED
        listed True
        task set changed False
        gone connector.unknown example-configs
        """,
    "offsets": r"""
        position {'position': 8}
        refused generation.stale
        group \(Position\(topic='example-offsets', partition=0, offset=1\),\)
        altered {'position': 2}
        before the last change {'position': 8}
        reset \(\)
        would repeat 1
        deleted \(\)
        """,
    "statuses": r"""
        task RUNNING
        listed True
        unchanged True
        topics \['example-statuses'\]
        topics \[\]
        unknown status.unknown
        """,
    "scheduler": r"""
        worker 127.0.0.1:\d+ working \d+
        (assigned Instance\(connector='.+', task=\S+\) 127.0.0.1:\d+
        )*cluster [\w-]{22}
        watch begins with a snapshot: True
        lease 10.0
        """,
    "executors": r"""
        plugins True
        first key file
        errors 0
        wrong \['tasks.max'\]
        offsets work True
        effects \(SourceEffect\(repeated=None, skipped=None, unit=''\),\)
        offsets of a time None
        restarted by a worker with plugins True
        none: No worker runs connector example-unknown. Ask again once it is assigned
        """,
    "watching": r"""
        health {'config': True, 'offset': True, 'status': True, 'scheduler': True}
        in the snapshot True
        removed example-watching
        late: No answer from 127.0.0.1:\d+ \(deadline_exceeded\): is the service running there\?
        """,
}


@pytest.mark.row("K26-41")
@pytest.mark.parametrize("name", SAID)
def test_an_example_says_what_it_is_expected_to(name: str, worker: Path) -> None:
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), str(worker)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    expected = re.sub(r"^\s+", "", SAID[name], flags=re.MULTILINE)
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(expected, ran.stdout), ran.stdout


@pytest.mark.row("K26-41")
def test_every_example_is_run() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.py")} == set(SAID)


@pytest.mark.row("K26-41")
@pytest.mark.parametrize(
    "client", [Configs, Offsets, Statuses, Scheduler, Executors, Executor, CopycatClient]
)
def test_every_call_is_in_an_example(client: type) -> None:
    text = "".join(file.read_text() for file in EXAMPLES.glob("*.py"))
    calls = [name for name, _ in inspect.getmembers(client, inspect.isfunction) if not name.startswith("_")]
    assert [name for name in calls if f".{name}(" not in text and name != "close"] == []


@pytest.mark.row("K26-41")
@pytest.mark.parametrize(
    "client", [Configs, Offsets, Statuses, Scheduler, Executors, Executor, CopycatClient]
)
def test_every_call_is_documented(client: type) -> None:
    calls = [
        call for name, call in inspect.getmembers(client, inspect.isfunction) if not name.startswith("_")
    ]
    assert all(call.__doc__ for call in calls)


SERVICES = {
    "config": "copycat.config.v1.ConfigService",
    "offset": "copycat.offset.v1.OffsetService",
    "status": "copycat.status.v1.StatusService",
    "scheduler": "copycat.scheduler.v1.SchedulerService",
    "executor": "copycat.executor.v1.ExecutorService",
}
READS = {
    "config": "ListConnectors",
    "offset": "GetSourceOffsets",
    "status": "ListStatuses",
    "scheduler": "ListWorkers",
    "executor": "ListPlugins",
}
LATE = 0.5


@pytest.fixture(params=SERVICES)
def role(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def channel(role: str, worker: Path) -> Iterator[grpc.Channel]:
    """A plain channel: nothing of ours but the secret, sent as any client sends an access token."""
    properties = read_properties(worker)
    token = grpc.access_token_call_credentials(properties["cluster.secret"])
    known = grpc.composite_channel_credentials(grpc.local_channel_credentials(), token)
    with grpc.secure_channel(properties[f"{role}.addresses"], known) as opened:
        yield opened


@pytest.fixture
def stranger(role: str, worker: Path) -> Iterator[grpc.Channel]:
    """A plain channel of somebody who cannot read the worker's properties."""
    with grpc.insecure_channel(read_properties(worker)[f"{role}.addresses"]) as opened:
        yield opened


def test_nobody_is_answered_without_the_secret(stranger: grpc.Channel, role: str) -> None:
    database = ProtoReflectionDescriptorDatabase(stranger)
    with pytest.raises(grpc.RpcError) as reflected:
        database.get_services()
    call = stranger.unary_unary(f"/{SERVICES[role]}/{READS[role]}", bytes, bytes)
    with pytest.raises(grpc.RpcError) as read:
        call(b"", timeout=10)
    assert {error.value.code() for error in (reflected, read)} == {grpc.StatusCode.UNAUTHENTICATED}


def test_reflection_lists_the_service_with_its_calls(role: str, channel: grpc.Channel) -> None:
    database = ProtoReflectionDescriptorDatabase(channel)
    assert SERVICES[role] in database.get_services()
    described = database.FindFileContainingSymbol(SERVICES[role])
    assert SERVICES[role].rpartition(".")[2] in [service.name for service in described.service]


def test_health_says_to_anybody_that_it_serves(stranger: grpc.Channel) -> None:
    reply = health_pb2_grpc.HealthStub(stranger).Check(health_pb2.HealthCheckRequest(), timeout=10)
    assert reply.status == health_pb2.HealthCheckResponse.SERVING


@pytest.mark.parametrize("role", ["config"])
def test_a_call_that_cannot_be_answered_ends_at_its_deadline(channel: grpc.Channel) -> None:
    began = time.monotonic()
    with pytest.raises(grpc.RpcError) as late:
        ConfigServiceStub(channel).ListConnectors(
            pb.ListConnectorsRequest(min_revision=types_pb2.Revision(next={0: 10**12})), timeout=LATE
        )
    assert late.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert time.monotonic() - began >= LATE
