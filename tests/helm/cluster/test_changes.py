"""What happens to pods while lines flow: one is lost, all are replaced by an upgrade, one is evicted."""

from __future__ import annotations

import pytest
from copycat_testkit.certificates import Authority
from copycat_testkit.kafka import wait_until

from tests.helm.cluster.release import READY_SECONDS, Release

pytestmark = pytest.mark.timeout(1800)


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
