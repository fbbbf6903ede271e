"""ConnectorClientPolicyIntegrationTest: what connectors may change unless the worker says otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.policies import is_created

pytestmark = pytest.mark.timeout(300)


def test_create_with_allowed_overrides_for_default_policy(cluster: Cluster, tmp_path: Path) -> None:
    is_created(cluster.rest, tmp_path, producer_override_client_id="mine")
