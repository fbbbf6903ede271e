"""The chart in a cluster: it serves, and lines flow while pods are lost, replaced, evicted and added."""

from __future__ import annotations

from typing import Final

import pytest
from copycat_testkit.certificates import Authority
from copycat_testkit.kafka import wait_until

from tests.helm.cluster.release import NAMESPACE, READY_SECONDS, ROLES, Release, is_ready
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


def test_an_executor_that_is_deleted_comes_back_and_its_work_goes_on(flow: Release) -> None:
    name = flow.worker_of("lines-source").partition(".")[0]
    former = flow.get("pod", name)["metadata"]["uid"]

    flow.kubectl("delete", "pod", name, "--grace-period=0", "--force")

    wait_until(lambda: flow.get("pod", name)["metadata"]["uid"] != former, READY_SECONDS, f"{name} is new")
    flow.wait_moving()
    flow.wait_ready()


@pytest.mark.parametrize("role", ["config", "offset", "status", "scheduler"])
def test_a_log_goes_on_when_a_pod_of_its_service_is_deleted(flow: Release, role: str) -> None:
    flow.kubectl("delete", "pod", f"copycat-{role}-0", "--grace-period=0", "--force")

    flow.wait_moving()
    flow.wait_ready()


def test_a_pod_is_evicted_and_the_other_one_stays_until_it_is_back(flow: Release) -> None:
    assert flow.evict("copycat-config-0") == ""

    assert "disruption budget" in flow.evict("copycat-config-1")
    flow.wait_ready()
    flow.wait_moving()


def test_no_pod_is_restarted_when_the_broker_is(flow: Release) -> None:
    former = restarts(flow)

    flow.cluster.kubectl("--namespace=kafka", "exec", "kafka-0", "--", "sh", "-c", "kill 1")

    flow.wait_moving()
    flow.wait_ready()
    assert restarts(flow) == former


def test_another_certificate_is_shown_without_a_restart(flow: Release, authority: Authority) -> None:
    former, started = flow.shown("config", 9101), restarts(flow)

    flow.certify(authority)

    wait_until(lambda: flow.shown("config", 9101) != former, READY_SECONDS, "another certificate")
    flow.wait_moving()
    flow.wait_ready()
    assert restarts(flow) == started


def test_an_upgrade_replaces_every_pod_while_lines_flow_and_rest_answers(flow: Release) -> None:
    former = {each["metadata"]["uid"] for each in flow.pods()}
    asked = len(flow.lines("calls.txt"))

    flow.helm("upgrade", "properties.offset\\.flush\\.interval\\.ms=2000")

    flow.wait_ready()
    assert not former & {each["metadata"]["uid"] for each in flow.pods()}
    flow.wait_moving()
    answers = [line.split(maxsplit=1)[1] for line in flow.lines("calls.txt")[asked:]]
    assert set(answers) == {"200"}


def restarts(release: Release) -> dict[str, int]:
    """Return how often the container of each pod was started again."""
    return {
        each["metadata"]["name"]: each["status"]["containerStatuses"][0]["restartCount"]
        for each in release.pods()
    }


def test_the_autoscaler_adds_an_executor_when_its_bounds_say_so(flow: Release) -> None:
    flow.helm("upgrade", "executor.autoscaling.minReplicas=3")

    wait_until(
        lambda: len(list(filter(is_ready, flow.pods("executor")))) == 3, READY_SECONDS, "a third executor"
    )
    flow.wait_moving()
