"""The chart in a cluster: what it starts serves, and is what an operator relies on."""

from __future__ import annotations

from typing import Final

import pytest
from copycat_testkit.certificates import Authority

from tests.helm.cluster.release import NAMESPACE, ROLES, Release, is_ready
from tools.cluster.cluster import Cluster

pytestmark = pytest.mark.timeout(1800)

CONNECT: Final = "import socket; socket.create_connection(({host!r}, {port}), timeout=5)"


def test_every_pod_is_ready_and_none_was_started_twice(release: Release) -> None:
    for role, number in ROLES.items():
        pods = release.pods(role)
        assert len(pods) == number, role
        assert all(map(is_ready, pods)), role
        assert [each["status"]["containerStatuses"][0]["restartCount"] for each in pods] == [0] * number, role


def test_lines_of_a_file_arrive_in_another_one(flow: Release) -> None:
    arrived = flow.lines("out.txt")

    assert arrived == [str(number) for number in range(1, len(arrived) + 1)]


@pytest.mark.parametrize(("role", "port"), [("config", 9101), ("executor", 9105)])
def test_services_show_their_certificate(
    release: Release, authority: Authority, role: str, port: int
) -> None:
    issued = authority.file.with_name("service.pem").read_text()

    assert release.shown(role, port).strip() in issued


def test_budgets_let_one_pod_of_a_role_go_at_a_time(release: Release) -> None:
    for role, number in ROLES.items():
        status = release.get("poddisruptionbudget", f"copycat-{role}")["status"]
        assert (status["disruptionsAllowed"], status["currentHealthy"]) == (1, number), role


def test_executors_are_as_many_as_the_autoscaler_wants_at_least(release: Release) -> None:
    scaler = release.get("horizontalpodautoscaler", "copycat-executor")

    assert scaler["status"]["currentReplicas"] == scaler["spec"]["minReplicas"] == 2


@pytest.mark.parametrize(("role", "port"), [("config", 9101), ("executor", 9105), ("gateway", 8083)])
def test_a_stranger_reaches_no_service(release: Release, cluster: Cluster, role: str, port: int) -> None:
    said = connect(cluster, "elsewhere", "stranger", f"copycat-{role}.{NAMESPACE}", port)

    assert "timed out" in said or "refused" in said, said


def test_whom_the_values_name_reaches_the_gateway_and_nothing_else(
    release: Release, cluster: Cluster
) -> None:
    assert connect(cluster, NAMESPACE, "client", "copycat-gateway", 8083) == ""
    said = connect(cluster, NAMESPACE, "client", "copycat-config", 9101)
    assert "timed out" in said or "refused" in said, said


def connect(cluster: Cluster, namespace: str, pod: str, host: str, port: int) -> str:
    """Make a connection from within a pod; returns what was said when that failed."""
    program = CONNECT.format(host=host, port=port)
    return cluster.kubectl(
        f"--namespace={namespace}", "exec", pod, "--", "python", "-c", program, check=False
    )
