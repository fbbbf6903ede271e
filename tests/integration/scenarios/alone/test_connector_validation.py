"""ConnectorValidationIntegrationTest: a sink whose group would be that of its workers."""

from __future__ import annotations

import pytest

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.validation import SINK_CONFIG, errors

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


def test_sink_connector_default_group_id_conflicts_with_worker_group_id(lone: Cluster) -> None:
    name = lone.group.removeprefix("connect-")

    assert errors(lone, {**SINK_CONFIG, "name": name}) == 1


def test_sink_connector_overridden_group_id_conflicts_with_worker_group_id(lone: Cluster) -> None:
    assert errors(lone, {**SINK_CONFIG, "consumer.override.group.id": lone.group}) == 1
