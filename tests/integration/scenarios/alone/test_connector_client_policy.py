"""ConnectorClientPolicyIntegrationTest: a worker that lets connectors change all client settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.policies import is_created

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


def test_create_with_allowed_overrides_for_all_policy(lone: Cluster, tmp_path: Path) -> None:
    is_created(lone.rest, tmp_path, producer_override_client_id="mine")
