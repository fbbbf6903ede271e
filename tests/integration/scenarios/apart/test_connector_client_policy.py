"""ConnectorClientPolicyIntegrationTest: workers that let connectors change few client settings, or none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import is_created, is_refused
from tests.integration.scenarios.rest import Rest

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]
POLICY = "connector.client.config.override.policy"


@pytest.fixture(scope="module")
def worker(
    request: pytest.FixtureRequest, kafka: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rest]:
    """Run one worker with a policy; it ends before that with the next one starts."""
    folder = tmp_path_factory.mktemp("policy")
    with Cluster(kafka, folder, 1, {POLICY: request.param}).running() as running:
        yield running.rest


with_none = pytest.mark.parametrize("worker", ["None"], indirect=True)
with_principal = pytest.mark.parametrize("worker", ["Principal"], indirect=True)


@with_none
def test_create_with_overrides_for_none_policy(worker: Rest, tmp_path: Path) -> None:
    is_refused(worker, tmp_path, producer_override_client_id="mine")


@with_none
def test_create_with_no_allowed_overrides_for_none_policy(worker: Rest, tmp_path: Path) -> None:
    is_created(worker, tmp_path)


@with_principal
def test_create_with_not_allowed_overrides_for_principal_policy(worker: Rest, tmp_path: Path) -> None:
    is_refused(
        worker,
        tmp_path,
        producer_override_sasl_jaas_config="org.example.Login required;",
        producer_override_max_poll_records="1",
    )


@with_principal
def test_create_with_allowed_overrides_for_principal_policy(worker: Rest, tmp_path: Path) -> None:
    is_created(worker, tmp_path, producer_override_security_protocol="PLAINTEXT")
