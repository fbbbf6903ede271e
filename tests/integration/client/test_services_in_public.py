"""What the services say to any gRPC client about themselves: reflection, health, deadlines."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceStub
from copycat.types.v1 import types_pb2
from copycat_rpc.role import read_properties
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

pytestmark = [pytest.mark.timeout(240), pytest.mark.long]

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
