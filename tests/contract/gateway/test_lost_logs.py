"""A service that lost its log: every answer that rests on it says so, and what is still known is shown."""

from __future__ import annotations

import asyncio

import pytest
from copycat.metrics.v1 import metrics_service_pb2 as pb
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat_connect.errors import LogLostError
from copycat_gateway.scrape import GOOD_FOR_SECONDS, concerning
from copycat_telemetry.metrics.groups import EVENT_LOG, LOST_BECAUSE

from tests.contract.gateway.world import World

LOST = "Topic 'connect-configs' (config.storage.topic) was deleted while Copycat ran on it."


@pytest.fixture
async def lost(cluster: World) -> World:
    """A cluster of one connector that is well, and a log that is lost since."""
    cluster.config.has("c")
    cluster.status.says("c", "RUNNING", generation=7)
    cluster.status.statuses["c"].health = status_pb.HEALTH_HEALTHY
    assert (await cluster.rest.get("/health")).status_code == 200
    assert (await cluster.rest.get("/connectors/c/status")).json()["health"] == {"state": "healthy"}
    cluster.metrics.groups = [
        pb.MetricGroup(name=EVENT_LOG.name, metrics=[pb.Metric(name=LOST_BECAUSE, text=LOST)])
    ]
    cluster.offset.fails = LogLostError(LOST)
    await asyncio.sleep(GOOD_FOR_SECONDS)  # what was heard before counts no longer
    return cluster


async def test_health_says_what_is_lost_and_does_not_wait(lost: World) -> None:
    reply = await lost.rest.get("/health")
    assert reply.status_code == 500
    assert reply.json()["status"] == "unhealthy"
    assert reply.json()["message"].endswith(f"unable to handle other requests. {LOST}")


async def test_no_connector_is_healthy_and_all_of_them_are_still_shown(lost: World) -> None:
    unwell = {"state": "degraded", "reason": LOST}
    assert (await lost.rest.get("/connectors/c/status")).json()["health"] == unwell
    shown = (await lost.rest.get("/connectors?expand=status&expand=info")).json()["c"]
    assert (shown["status"]["health"], shown["info"]["name"]) == (unwell, "c")


async def test_a_failed_connector_stays_failed_with_both_reasons(lost: World) -> None:
    known = lost.status.statuses["c"]
    known.health, known.health_reason = status_pb.HEALTH_FAILED, "all failed"
    health = (await lost.rest.get("/connectors/c/status")).json()["health"]
    assert health == {"state": "failed", "reason": f"{LOST}; all failed"}


async def test_what_needs_the_log_is_refused_with_its_reason(lost: World) -> None:
    reply = await lost.rest.get("/connectors/c/offsets")
    assert reply.status_code == 503
    assert LOST in reply.json()["message"]


async def test_many_questions_at_once_are_one(lost: World) -> None:
    before = lost.metrics.asked
    await asyncio.gather(*(lost.rest.get("/connectors/c/status") for _ in range(10)))
    services = 4
    assert lost.metrics.asked - before <= 2 * services


def test_lost_offsets_do_not_concern_sinks() -> None:
    reasons = {"config": "no configurations", "offset": "no offsets"}
    assert concerning(reasons, "sink") == "no configurations"
    assert concerning(reasons, "source") == "no configurations no offsets"
