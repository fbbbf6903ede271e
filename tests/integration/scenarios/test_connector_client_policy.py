"""ConnectorClientPolicyIntegrationTest: which client settings a worker lets connectors change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from copycat_testkit.kafka import unique

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import Rest

pytestmark = pytest.mark.timeout(300)
POLICY = "connector.client.config.override.policy"


def worker(policy: str, kafka: str, factory: pytest.TempPathFactory) -> Iterator[Rest]:
    """Run one worker with a policy."""
    with Cluster(kafka, factory.mktemp("policy"), 1, {POLICY: policy}).running() as running:
        yield running.rest


@pytest.fixture(scope="module")
def none(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rest]:
    yield from worker("None", kafka, tmp_path_factory)


@pytest.fixture(scope="module")
def principal(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rest]:
    yield from worker("Principal", kafka, tmp_path_factory)


def is_created(rest: Rest, folder: Path, **overrides: str) -> None:
    """Create a connector and wait until it runs."""
    name = unique("policy")
    rest.create(name, Monitor(folder / name).source(name, **overrides))
    rest.runs(name)
    rest.delete(name)


def is_refused(rest: Rest, folder: Path, **overrides: str) -> None:
    """Try to create a connector; it is not there afterwards."""
    name = unique("policy")
    config = Monitor(folder / name).source(name, **overrides)
    reply = rest.call("POST", "/connectors", {"name": name, "config": config})
    assert reply.status_code == 400, reply.text
    assert " policy does not allow " in reply.json()["message"]
    assert rest.call("GET", f"/connectors/{name}").status_code == 404


def test_create_with_overrides_for_none_policy(none: Rest, tmp_path: Path) -> None:
    is_refused(none, tmp_path, producer_override_client_id="mine")


def test_create_with_no_allowed_overrides_for_none_policy(none: Rest, tmp_path: Path) -> None:
    is_created(none, tmp_path)


def test_create_with_not_allowed_overrides_for_principal_policy(principal: Rest, tmp_path: Path) -> None:
    is_refused(
        principal,
        tmp_path,
        producer_override_sasl_jaas_config="org.example.Login required;",
        producer_override_max_poll_records="1",
    )


def test_create_with_allowed_overrides_for_principal_policy(principal: Rest, tmp_path: Path) -> None:
    is_created(principal, tmp_path, producer_override_security_protocol="PLAINTEXT")


def test_create_with_allowed_overrides_for_all_policy(lone: Cluster, tmp_path: Path) -> None:
    is_created(lone.rest, tmp_path, producer_override_client_id="mine")


def test_create_with_allowed_overrides_for_default_policy(cluster: Cluster, tmp_path: Path) -> None:
    is_created(cluster.rest, tmp_path, producer_override_client_id="mine")
