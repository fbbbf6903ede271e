"""Loggers, health, root: golden answers; and what is said of a service that lost its log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from importlib.metadata import version

import pytest
from copycat.metrics.v1 import metrics_service_pb2 as metrics_pb
from copycat.metrics.v1 import metrics_service_pb2 as pb
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat_connect.errors import LogLostError, UnavailableError
from copycat_gateway.scrape import GOOD_FOR_SECONDS, concerning
from copycat_telemetry.metrics.groups import EVENT_LOG, LOST_BECAUSE

from tests.contract.gateway.world import World

HEALTHY = b'{"status":"healthy","message":"Worker has completed startup and is ready to handle requests."}'


@pytest.fixture
def loggers() -> Iterator[None]:
    """Loggers of the process are shared: leave no level behind."""
    names = ("copycat.probe", "copycat.probe.child", "copycat.probeother", "copycat.fresh")
    yield
    for name in names:
        logging.getLogger(name).setLevel(logging.NOTSET)


@pytest.mark.usefixtures("loggers")
async def test_the_root_reports_kafkas_version_for_clients_that_compare_it_and_our_own_beside_it(
    bare: World,
) -> None:
    bare.scheduler.cluster_id = "I4ZmrWqfT2e-upky_4fdPA"

    reply = await bare.rest.get("/")

    assert reply.json() == {
        "version": "4.4.0",
        "commit": "1156b2752aaa28ea",
        "kafka_cluster_id": "I4ZmrWqfT2e-upky_4fdPA",
        "copycat_version": version("copycat-gateway"),
        "copycat_commit": "unknown",
    }


@pytest.mark.usefixtures("loggers")
async def test_the_root_answers_without_brokers_and_remembers_the_id_they_told(bare: World) -> None:
    unknown = await bare.rest.get("/")
    bare.scheduler.cluster_id = "I4ZmrWqfT2e-upky_4fdPA"
    told = await bare.rest.get("/")
    bare.scheduler.cluster_id = None
    remembered = await bare.rest.get("/")

    ids = [reply.json()["kafka_cluster_id"] for reply in (unknown, told, remembered)]
    assert ids == [None, "I4ZmrWqfT2e-upky_4fdPA", "I4ZmrWqfT2e-upky_4fdPA"]


@pytest.mark.usefixtures("loggers")
async def test_a_worker_level_covers_the_prefix_and_says_for_whom(bare: World) -> None:
    logging.getLogger("copycat.probe.child")
    logging.getLogger("copycat.probeother")

    reply = await bare.rest.put("/admin/loggers/copycat.probe", json={"level": "debug"})
    one = await bare.rest.get("/admin/loggers/copycat.probe.child")
    listed = (await bare.rest.get("/admin/loggers")).json()

    assert reply.content == b'["copycat.probe","copycat.probe.child","copycat.probeother"]'
    assert one.json()["level"] == "DEBUG"
    assert listed["copycat.probe"] == one.json() | {"last_modified": listed["copycat.probe"]["last_modified"]}
    assert list(listed) == sorted(listed)
    assert listed["root"]["last_modified"] is None


@pytest.mark.usefixtures("loggers")
async def test_our_own_loggers_are_listed_with_the_level_in_force(bare: World) -> None:
    logging.getLogger("copycat_gateway.probe.quiet")

    listed = (await bare.rest.get("/admin/loggers")).json()

    assert listed["copycat_gateway.probe.quiet"] == {
        "level": listed["root"]["level"],
        "last_modified": None,
    }


@pytest.mark.usefixtures("loggers")
async def test_lowering_everything_wakes_no_library_that_floods(bare: World) -> None:
    root, library = logging.getLogger(), logging.getLogger("aiokafka.probe")
    before = root.level
    library.setLevel("CRITICAL")
    try:
        changed = (await bare.rest.put("/admin/loggers/root", json={"level": "DEBUG"})).json()
        assert root.level == logging.DEBUG
    finally:
        for name in changed:
            logging.getLogger(name).setLevel(logging.NOTSET)
        root.setLevel(before)

    assert "root" in changed
    assert "aiokafka.probe" not in changed
    assert library.level == logging.CRITICAL


@pytest.mark.usefixtures("loggers")
async def test_setting_the_same_level_again_is_no_modification(bare: World) -> None:
    await bare.rest.put("/admin/loggers/copycat.fresh", json={"level": "ERROR"})
    before = await bare.rest.get("/admin/loggers/copycat.fresh")
    again = await bare.rest.put("/admin/loggers/copycat.fresh", json={"level": "ERROR"})
    after = await bare.rest.get("/admin/loggers/copycat.fresh")

    assert again.content == b"[]"
    assert before.json()["last_modified"] is not None
    assert after.content == before.content


@pytest.mark.usefixtures("loggers")
async def test_a_cluster_level_is_logged_for_every_worker(bare: World) -> None:
    reply = await bare.rest.put("/admin/loggers/copycat.probe?scope=CLUSTER", json={"level": "trace"})

    assert (reply.status_code, reply.content) == (204, b"")
    assert bare.config.levels == [("copycat.probe", "TRACE")]
    assert (await bare.rest.get("/admin/loggers/copycat.probe")).json()["level"] == "TRACE"


@pytest.mark.usefixtures("loggers")
async def test_an_unknown_scope_means_this_worker(bare: World) -> None:
    reply = await bare.rest.put("/admin/loggers/copycat.fresh?scope=galaxy", json={"level": "INFO"})

    assert (reply.status_code, reply.content) == (200, b'["copycat.fresh"]')
    assert bare.config.levels == []


@pytest.mark.usefixtures("loggers")
async def test_wrong_levels_and_unknown_loggers_are_refused(bare: World) -> None:
    for body in ({}, {"level": None}):
        missing = await bare.rest.put("/admin/loggers/x", json=body)
        assert missing.content == (
            b'{"error_code":400,"message":"Desired \'level\' parameter was not specified in request."}'
        )

    wrong = await bare.rest.put("/admin/loggers/x", json={"level": "Loud"})
    unknown = await bare.rest.get("/admin/loggers/no.such.logger")
    root = await bare.rest.get("/admin/loggers/ROOT")

    assert wrong.content == b'{"error_code":404,"message":"invalid log level \'Loud\'."}'
    assert unknown.content == b'{"error_code":404,"message":"Logger no.such.logger not found."}'
    assert root.status_code == 200


@pytest.mark.usefixtures("loggers")
async def test_admin_may_be_off_or_on_a_listener_of_its_own(bare: World) -> None:
    await bare.open_gateway(admin_listeners="")
    assert (await bare.rest.get("/admin/loggers")).status_code == 404

    await bare.open_gateway(admin_listeners="http://127.0.0.1:0")
    assert (await bare.rest.get("/admin/loggers")).status_code == 404
    assert (await bare.rest.get("/connectors")).status_code == 200


@pytest.mark.usefixtures("loggers")
async def test_health_starts_turns_healthy_and_then_unhealthy(bare: World) -> None:
    await bare.open_gateway(rest_health_timeout_ms="3000")

    starting = await bare.rest.get("/health")
    worker_id, _ = await bare.add_worker()
    healthy = await bare.rest.get("/health")
    del bare.scheduler.workers[worker_id]
    unhealthy = await bare.rest.get("/health")

    assert starting.status_code == 503
    assert starting.json()["status"] == "starting"
    assert starting.json()["message"].startswith(
        "Worker is still starting up. The worker is currently ensuring membership in the cluster, which"
    )
    assert (healthy.status_code, healthy.content) == (200, HEALTHY)
    assert unhealthy.status_code == 500
    assert unhealthy.json()["status"] == "unhealthy"
    assert unhealthy.json()["message"].startswith(
        "Worker was unable to handle this request and may be unable to handle other requests. The worker"
    )


@pytest.mark.usefixtures("loggers")
async def test_health_waits_for_services_that_catch_up(cluster: World) -> None:
    await cluster.open_gateway(rest_health_timeout_ms="3000")
    await cluster.services.set_serving(False)

    behind = await cluster.rest.get("/health")
    await cluster.services.set_serving(True)
    caught_up = await cluster.rest.get("/health")

    assert behind.status_code == 503
    assert "initializing and reading to the end of internal topics" in behind.json()["message"]
    assert caught_up.status_code == 200


@pytest.mark.usefixtures("loggers")
async def test_health_is_told_when_services_are_gone(cluster: World) -> None:
    await cluster.open_gateway(rest_health_timeout_ms="3000")
    assert (await cluster.rest.get("/health")).status_code == 200

    await cluster.services.stop(0)

    assert (await cluster.rest.get("/health")).status_code == 500


@pytest.mark.usefixtures("loggers")
async def test_health_is_told_when_the_brokers_are_away(cluster: World) -> None:
    await cluster.open_gateway(rest_health_timeout_ms="3000")
    assert (await cluster.rest.get("/health")).status_code == 200

    cluster.offset.fails = UnavailableError("The end of the log cannot be asked for")
    away = await cluster.rest.get("/health")
    cluster.offset.fails = None

    assert away.status_code == 500
    assert "reading to the end of internal topics" in away.json()["message"]
    assert (await cluster.rest.get("/health")).status_code == 200


@pytest.mark.usefixtures("loggers")
async def test_health_is_gone_while_nothing_can_be_written(bare: World) -> None:
    await bare.open_gateway(rest_health_timeout_ms="3000")
    await bare.add_worker()
    assert (await bare.rest.get("/health")).status_code == 200

    bare.config.fails = UnavailableError("the config topic is gone")
    unfit = await bare.rest.get("/health")
    bare.config.fails = None
    fit = await bare.rest.get("/health")

    assert unfit.status_code == 500
    assert "The worker is currently writing to the config topic, which began at " in unfit.json()["message"]
    assert (fit.status_code, fit.content) == (200, HEALTHY)


@pytest.mark.usefixtures("loggers")
async def test_health_says_what_the_services_pass_over_though_they_are_well(cluster: World) -> None:
    last = "topic connect-configs, partition 0, offset 17"
    log = metrics_pb.MetricGroup(
        name="event-log-metrics",
        metrics=[
            metrics_pb.Metric(name="unreadable-records-total", total=2),
            metrics_pb.Metric(name="last-unreadable-record", text=last),
        ],
    )
    cluster.metrics.groups = [log]

    reply = await cluster.rest.get("/health")

    assert (reply.status_code, reply.json()["status"]) == (200, "healthy")
    told = reply.json()["message"]
    assert told.startswith("Worker has completed startup and is ready to handle requests. Records")
    assert f"2 of the config service (the last: {last})" in told


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
