"""Each gRPC listener refuses whoever is not known, not sure or not allowed, and nothing of it is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import grpc
import pytest
from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat.executor.v1 import executor_service_pb2 as executor_pb2
from copycat.offset.v1 import offset_service_pb2 as offset_pb2
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb2
from copycat.status.v1 import status_service_pb2 as status_pb2
from google.protobuf.message import Message

from tests.integration.refusals.conftest import CONNECTOR, RPC_ROLES, Guarded, call, showing

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

Unauthenticated, Denied = grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED
#: Of each service a call about the connector: one that acts, where doing it again and again would show.
CALLS: Final[Mapping[str, tuple[str, Message]]] = {
    "config": (
        "/copycat.config.v1.ConfigService/DeleteConnector",
        config_pb2.DeleteConnectorRequest(name=CONNECTOR),
    ),
    "offset": (
        "/copycat.offset.v1.OffsetService/GetLastChange",
        offset_pb2.GetLastChangeRequest(connector=CONNECTOR),
    ),
    "status": (
        "/copycat.status.v1.StatusService/ForgetStatuses",
        status_pb2.ForgetStatusesRequest(connector=CONNECTOR, tasks=[0]),
    ),
    "scheduler": (
        "/copycat.scheduler.v1.SchedulerService/GetAssignment",
        scheduler_pb2.GetAssignmentRequest(instance=scheduler_pb2.Instance(connector=CONNECTOR, task=0)),
    ),
    "executor": (
        "/copycat.executor.v1.ExecutorService/RestartTask",
        executor_pb2.RestartTaskRequest(connector=CONNECTOR, task=0),
    ),
}
#: Of each service a call that only reads, and what its answer is to those who may.
READS: Final[Mapping[str, tuple[str, Message]]] = {
    **{role: CALLS[role] for role in ("offset", "scheduler")},
    "config": (
        "/copycat.config.v1.ConfigService/GetConnector",
        config_pb2.GetConnectorRequest(name=CONNECTOR),
    ),
    "status": (
        "/copycat.status.v1.StatusService/GetConnectorStatus",
        status_pb2.GetConnectorStatusRequest(connector=CONNECTOR),
    ),
    "executor": ("/copycat.executor.v1.ExecutorService/ListPlugins", executor_pb2.ListPluginsRequest()),
}
#: Of the scheduler's calls those that users may make at all are a viewer's.
ABOVE_VIEWERS: Final = tuple(role for role in RPC_ROLES if role != "scheduler")


def test_every_grpc_listener_is_tried() -> None:
    assert set(CALLS) == set(READS) == set(RPC_ROLES)


@pytest.mark.parametrize("role", RPC_ROLES)
def test_the_secret_and_a_token_of_the_right_role_are_let_in(guarded: Guarded, role: str) -> None:
    with guarded.channel(role, guarded.certificates.known) as channel:
        for credential in (guarded.secret, guarded.issuer.token("ann")):
            assert call(channel, *READS[role], credential) == (grpc.StatusCode.OK, "")


@pytest.mark.parametrize("role", RPC_ROLES)
def test_who_shows_nothing_or_something_wrong_is_not_known(guarded: Guarded, role: str) -> None:
    with guarded.channel(role, guarded.certificates.known) as channel:
        for credential in ("", guarded.secret[:-1], f"{guarded.secret}0"):
            assert call(channel, *CALLS[role], credential) == (Unauthenticated, "rpc.unauthenticated")


@pytest.mark.parametrize("role", RPC_ROLES)
def test_a_token_that_is_not_good_is_refused(guarded: Guarded, role: str) -> None:
    with guarded.channel(role, guarded.certificates.known) as channel:
        for wrong, token in guarded.bad_tokens().items():
            assert call(channel, *CALLS[role], token) == (Unauthenticated, "access.token_refused"), wrong


@pytest.mark.parametrize("role", RPC_ROLES)
def test_a_role_for_other_connectors_is_not_enough(guarded: Guarded, role: str) -> None:
    before = len(guarded.denials())
    with guarded.channel(role, guarded.certificates.known) as channel:
        assert call(channel, *CALLS[role], guarded.issuer.token("bob")) == (Denied, "access.role_needed")

    denied = guarded.denials()[before:]
    assert [line["by"] for line in denied] == ["bob"]


@pytest.mark.parametrize("role", ABOVE_VIEWERS)
def test_a_role_that_is_too_low_is_not_enough(guarded: Guarded, role: str) -> None:
    with guarded.channel(role, guarded.certificates.known) as channel:
        assert call(channel, *CALLS[role], guarded.issuer.token("eve")) == (Denied, "access.role_needed")


@pytest.mark.parametrize("role", RPC_ROLES)
@pytest.mark.parametrize("shown", [None, "foreign", "expired"])
def test_without_a_certificate_that_is_trusted_there_is_no_connection(
    guarded: Guarded, role: str, shown: str | None
) -> None:
    certificate = getattr(guarded.certificates, shown) if shown else None
    with guarded.channel(role, certificate) as channel:
        status, _ = call(channel, *CALLS[role], guarded.secret)

    assert status is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize("role", RPC_ROLES)
def test_plain_text_is_not_understood(guarded: Guarded, role: str) -> None:
    with grpc.insecure_channel(guarded.address(role)) as channel:
        status, _ = call(channel, *CALLS[role], guarded.secret)

    assert status is grpc.StatusCode.UNAVAILABLE


def test_nobody_attaches_as_a_task_host_but_who_has_the_token_of_one(guarded: Guarded) -> None:
    with guarded.channel("executor", guarded.certificates.known) as channel:
        attach = channel.stream_stream(
            "/copycat.host.v1.HostService/Attach", request_serializer=bytes, response_deserializer=bytes
        )
        for credential in ("", guarded.secret, guarded.issuer.token("ann")):
            with pytest.raises(grpc.RpcError) as caught:
                list(attach(iter(()), metadata=showing(credential), timeout=60))
            assert caught.value.code() in {Unauthenticated, Denied}
