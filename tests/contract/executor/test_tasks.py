"""Tasks in hosts and drivers: starts, pauses, drains, commits, and what follows when something dies."""

from __future__ import annotations

from functools import partial

import pytest
from copycat.executor.v1 import executor_service_pb2 as pb
from copycat.host.v1 import host_service_pb2 as host_pb
from copycat.types.v1 import types_pb2
from copycat_connect.errors import (
    ConfigError,
    CopycatError,
    ErrorCode,
    StaleGenerationError,
    UnavailableError,
)
from copycat_executor.domain.running import Phase

from tests.contract.executor import world as worlds
from tests.contract.executor.world import SINK, SOURCE

world = partial(worlds.world, connectors=False)

PAUSED, STARTED = types_pb2.TARGET_STATE_PAUSED, types_pb2.TARGET_STATE_STARTED
FAILED = types_pb2.STATE_FAILED


async def test_an_assigned_task_is_started_in_a_host_with_all_it_needs() -> None:
    async with world(properties={"key.converter": "x"}) as it:
        generation = await it.run_task()
        order = it.launcher.of("orders-0").started[0]
        assert order.task.generation == generation
        assert {entry.key: entry.value for entry in order.task_config.entries} == {"index": "0"}
        assert order.worker_config.entries[0].key == "key.converter"
        assert order.target_state == STARTED
        assert it.status.last("orders", 0).version == "1.0"
        await it.until(lambda: it.scheduler.held == {("orders", 0): generation})


async def test_a_task_created_paused_begins_paused() -> None:
    async with world() as it:
        it.config.put("orders", SOURCE, [{"index": "0"}], target=PAUSED)
        it.scheduler.assign(it.worker, "orders", 0)
        await it.status_is("PAUSED", "orders", 0)


async def test_a_running_task_is_paused_and_resumed_in_its_place() -> None:
    async with world() as it:
        await it.run_task()
        it.config.target("orders", PAUSED)
        await it.status_is("PAUSED", "orders", 0)
        it.config.target("orders", STARTED)
        await it.status_is("RUNNING", "orders", 0)
        assert len(it.launcher.of("orders-0").started) == 1


async def test_a_sink_task_begins_at_its_groups_positions() -> None:
    async with world() as it:
        it.offset.sink["mine"] = {("in", 0): 7}
        it.config.put("orders", {**SINK, "consumer.override.group.id": "mine"}, [{"topics": "in"}])
        it.scheduler.assign(it.worker, "orders", 0, partitions=[0, 1])
        await it.status_is("RUNNING", "orders", 0)
        begun = it.launcher.of("orders-0").started[0].partitions
        assert [(each.partition, each.offset) for each in begun] == [(0, 7), (1, -1)]


async def test_other_partitions_restart_the_task_under_the_new_generation() -> None:
    async with world() as it:
        it.config.put("orders", SINK, [{"topics": "in"}])
        it.scheduler.assign(it.worker, "orders", 0, partitions=[0])
        await it.status_is("RUNNING", "orders", 0)
        generation = it.scheduler.assign(it.worker, "orders", 0, partitions=[0, 1])
        host = it.launcher.of("orders-0")
        await it.until(lambda: len(host.started) == 2)
        assert len(host.stopped) == 1
        assert host.started[1].task.generation == generation


async def test_an_acknowledgement_is_committed_and_answered() -> None:
    async with world() as it:
        generation = await it.run_task()
        host = it.launcher.of("orders-0")
        host.acknowledge(host.started[0].task, 1, b'{"o":1}')
        await it.until(lambda: host.fate(1) is not None)
        assert host.fate(1) == host_pb.Committed(task=host.started[0].task, sequence=1)
        assert it.offset.commits[0].generation == generation
        assert it.offset.source == {("orders", b'{"p":1}'): b'{"o":1}'}


@pytest.mark.row("KRETRY-12")
async def test_statuses_that_are_not_written_yet_hold_up_no_heartbeat_no_commit_no_pause_and_no_start() -> (
    None
):
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        it.status.answering.clear()
        it.config.target("orders", PAUSED)
        await it.until(lambda: it.status.unanswered > 0, "a status is reported and tried")
        beats = it.scheduler.beats

        host.acknowledge(host.started[0].task, 1, b'{"o":1}')
        await it.until(lambda: host.fate(1) is not None, "a commit")
        it.config.put("bills", SOURCE, [{"index": "0"}])
        generation = it.scheduler.assign(it.worker, "bills", 0)
        await it.until(
            lambda: it.scheduler.held.get(("bills", 0)) == generation, "a start, told by a heartbeat"
        )
        await it.until(lambda: it.scheduler.beats > beats + 3, "heartbeats")

        assert (it.status.states("orders", 0), it.status.states("bills", 0)) == (["RUNNING"], [])
        it.status.answering.set()
        await it.status_is("PAUSED", "orders", 0)
        await it.status_is("RUNNING", "bills", 0)


async def test_an_acknowledgement_of_nothing_asks_whether_the_generation_is_the_newest() -> None:
    async with world() as it:
        generation = await it.run_task()
        host = it.launcher.of("orders-0")
        host.say(acknowledged=host_pb.Acknowledged(task=host.started[0].task, sequence=1))
        await it.until(lambda: host.fate(1) is not None)
        (asked,) = it.offset.commits
        assert (asked.generation, list(asked.offsets)) == (generation, [])


async def test_acknowledgements_wait_for_the_offset_service_and_the_newest_counts() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        it.offset.failing = UnavailableError("away")
        for sequence in (1, 2, 3):
            host.acknowledge(host.started[0].task, sequence, b'{"o":%d}' % sequence)
        host.acknowledge(host.started[0].task, 4, b'{"o":9}', b'{"p":2}')
        host.say(topics_seen=host_pb.TopicsSeen(task=host.started[0].task, topics=["t"]))
        await it.until(lambda: it.status.topics != {})  # so all of it has been heard
        assert host.fate(1) is None
        it.offset.failing = None
        await it.until(lambda: host.fate(4) is not None)
        assert it.offset.source[("orders", b'{"p":1}')] == b'{"o":3}'
        assert it.offset.source[("orders", b'{"p":2}')] == b'{"o":9}'
        assert all(host.fate(sequence) is not None for sequence in (1, 2, 3))


async def test_a_refused_commit_is_told_to_the_task_and_tried_again() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        it.offset.failing = ConfigError("not allowed")
        host.acknowledge(host.started[0].task, 1, b'{"o":1}')
        await it.until(lambda: host.fate(1) is not None)
        fate = host.fate(1)
        assert fate is not None
        assert fate.error == "not allowed"
        it.offset.failing = None
        await it.until(lambda: it.offset.source != {})


async def test_a_stale_generation_ends_the_task_without_a_status() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        it.offset.failing = StaleGenerationError("a newer one is known")
        host.acknowledge(host.started[0].task, 1, b'{"o":1}')
        await it.until(lambda: host.fate(1) is not None)
        fate = host.fate(1)
        assert fate is not None
        assert fate.stale
        host.state(host.started[0].task, types_pb2.STATE_UNASSIGNED)  # as hosts do then
        it.offset.failing = None
        generation = it.scheduler.assign(it.worker, "orders", 0)
        await it.until(lambda: it.launcher.of("orders-0").started[-1].task.generation == generation)
        assert set(it.status.states("orders", 0)) == {"RUNNING"}


async def test_a_task_whose_offsets_another_has_moved_begins_again_without_a_word() -> None:
    class OffsetsMovedError(CopycatError):
        code = ErrorCode("offsets.moved", grpc="ABORTED", http=409)

    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        it.offset.failing = OffsetsMovedError("another task has committed")
        host.acknowledge(host.started[0].task, 1, b'{"o":2}', expected=b'{"o":1}')
        await it.until(lambda: host.fate(1) is not None)
        fate = host.fate(1)
        assert fate is not None
        assert fate.stale
        it.offset.failing = None
        host.state(host.started[0].task, types_pb2.STATE_UNASSIGNED)  # as hosts do then
        await it.until(lambda: len(it.launcher.of("orders-0").started) == 2)
        assert it.offset.source == {}, "the refused commit is not tried again"
        host.acknowledge(host.started[1].task, 1, b'{"o":2}', expected=b'{"o":1}')
        await it.until(lambda: it.offset.source != {})
        assert [each.offset for each in it.offset.commits[-1].expected] == [b'{"o":1}']
        await it.until(lambda: it.status.states("orders", 0)[-1:] == ["RUNNING"])
        assert set(it.status.states("orders", 0)) == {"RUNNING"}


async def test_progress_of_the_drain_is_committed_under_the_newest_generation_of_this_worker() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        host.drains = False
        generation = it.scheduler.assign(it.worker, "orders", 0)
        await it.until(lambda: len(host.stopped) == 1)
        host.acknowledge(host.started[0].task, 1, b'{"o":1}')
        host.state(host.started[0].task, types_pb2.STATE_UNASSIGNED)
        await it.until(lambda: len(host.started) == 2)
        assert it.offset.commits[0].generation == generation


async def test_a_task_moved_away_drains_commits_and_is_let_go() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        await it.until(lambda: it.scheduler.held != {})
        host.drains = False
        it.scheduler.remove("orders", 0)
        await it.until(lambda: len(host.stopped) == 1)
        assert it.scheduler.held != {}
        host.acknowledge(host.started[0].task, 1, b'{"o":1}')
        host.state(host.started[0].task, types_pb2.STATE_UNASSIGNED)
        await it.status_is("UNASSIGNED", "orders", 0)
        await it.until(lambda: it.scheduler.held == {})
        assert it.offset.source != {}


async def test_a_failed_task_stays_failed_until_it_is_restarted() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        host.state(host.started[0].task, FAILED, trace="boom", stage="POLL")
        await it.status_is("FAILED", "orders", 0)
        assert it.status.trace("orders", 0).startswith("boom\nA bug failure does not pass by itself.")
        assert len(host.started) == 1
        await it.gateway.RestartTask(pb.RestartTaskRequest(connector="orders", task=0), timeout=10)
        await it.status_is("RUNNING", "orders", 0)


async def test_more_tasks_than_allowed_fail() -> None:
    async with world() as it:
        it.config.put("orders", {**SOURCE, "tasks.max": "1"}, [{"index": "0"}, {"index": "1"}])
        it.scheduler.assign(it.worker, "orders", 1)
        await it.status_is("FAILED", "orders", 1)
        assert "has generated 2 tasks" in it.status.trace("orders", 1)


async def test_a_new_task_set_restarts_the_task_only_once_it_is_published() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        it.config.put("orders", {**SOURCE, "tasks": "1", "transforms": ""})
        it.config.target("orders", PAUSED)
        await it.status_is("PAUSED", "orders", 0)
        assert len(host.started) == 1
        it.config.put("orders", {**SOURCE, "tasks": "1", "transforms": ""}, [{"index": "0"}])
        await it.until(lambda: len(host.started) == 2)


async def test_offsets_a_task_asks_for_are_read_for_it() -> None:
    async with world() as it:
        await it.run_task()
        it.offset.source[("orders", b'{"p":1}')] = b'{"o":5}'
        host = it.launcher.of("orders-0")
        wanted = host_pb.OffsetsWanted(task=host.started[0].task, sequence=3, partitions=[b'{"p":1}', b"{}"])
        host.say(offsets_wanted=wanted)
        await it.until(lambda: any(each.HasField("offsets_found") for each in host.commands))
        found = next(each.offsets_found for each in host.commands if each.HasField("offsets_found"))
        assert [each.offset for each in found.offsets] == [b'{"o":5}', b""]
        assert found.sequence == 3


async def test_topics_seen_become_active_topics() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        host.say(topics_seen=host_pb.TopicsSeen(task=host.started[0].task, topics=["t", "u"]))
        await it.until(lambda: it.status.topics == {("orders", 0): {"t", "u"}})


async def test_statuses_wait_for_the_status_service_and_the_newest_counts() -> None:
    async with world() as it:
        it.status.failing = UnavailableError("away")
        it.config.put("orders", SOURCE, [{"index": "0"}])
        it.scheduler.assign(it.worker, "orders", 0)
        await it.until(lambda: it.launcher.hosts != [] and it.launcher.hosts[0].started != [])
        host = it.launcher.of("orders-0")
        host.state(host.started[0].task, FAILED, trace="boom", stage="POLL")
        await it.until(lambda: [run.phase for run in it.executor.runs.tasks] == [Phase.FAILED])
        it.status.failing = None
        await it.status_is("FAILED", "orders", 0)


async def test_events_of_an_earlier_start_are_dropped() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        await it.gateway.RestartTask(pb.RestartTaskRequest(connector="orders", task=0), timeout=10)
        await it.until(lambda: len(host.started) == 2)
        host.state(host.started[0].task, FAILED, trace="late", stage="POLL")
        host.say(topics_seen=host_pb.TopicsSeen(task=host.started[1].task, topics=["t"]))
        await it.until(lambda: it.status.topics != {})
        assert "FAILED" not in it.status.states("orders", 0)


async def test_a_worker_that_leaves_says_so_drains_and_tells_every_last_status() -> None:
    async with world(spares=1, connectors=True) as it:
        it.config.put("orders", SOURCE)
        it.scheduler.assign(it.worker, "orders")
        await it.until(lambda: len(it.config.published) == 1)
        it.scheduler.assign(it.worker, "orders", 0)
        await it.status_is("RUNNING", "orders", 0)
        host = it.launcher.of("orders-0")
        await it.executor.drain()
        assert it.scheduler.leaving
        assert len(host.stopped) == 1
        assert it.status.state("orders", 0) == it.status.state("orders") == "UNASSIGNED"
        assert all(each.life.done() for each in it.launcher.hosts)


SPARK = {"connector.class": "copycat_probe.ProbeSparkSourceConnector", "tasks.max": "8"}


async def test_a_task_that_spark_reads_for_runs_in_a_driver_and_no_task_host() -> None:
    async with worlds.world() as it:
        await it.run_task("orders")
        assert not it.drivers.hosts  # nothing runs while there is no such task
        await it.run_task("lake", SPARK)
        assert it.drivers.of("lake-0").refs() == ["lake-0"]
        assert it.launcher.of("orders-0").refs() == ["orders-0"]
        assert len(it.drivers.hosts) == 1


async def test_a_driver_that_dies_is_replaced_and_ends_with_its_connector() -> None:
    async with worlds.world() as it:
        await it.run_task("lake", {**SPARK, "connector.class": "ProbeSparkSource"})
        first = it.drivers.of("lake-0")
        first.die()
        await it.until(lambda: it.drivers.of("lake-0") is not first, "another driver")
        await it.status_is("RUNNING", "lake", 0)
        it.config.delete("lake")
        await it.until(it.drivers.hosts[-1].life.done, "the driver has ended")
        assert not it.launcher.hosts


async def test_drivers_start_one_after_the_other() -> None:
    async with worlds.world() as it:
        it.drivers.launches = False
        for connector in ("lake", "sea"):
            it.config.put(connector, SPARK, [{"index": "0"}])
            it.scheduler.assign(it.worker, connector, 0)
        await it.until(lambda: len(it.status.troubles) == 2, "both say that they wait")
        assert len(it.drivers.waiting) == 1
        assert sorted(each.text.partition(":")[0] for each in it.status.troubles) == [
            "a driver of Spark",
            "its driver of Spark, which takes some seconds to start",
        ]
        it.drivers.launch_waiting()
        for connector in ("lake", "sea"):
            await it.status_is("RUNNING", connector, 0)


async def test_a_task_without_a_driver_waits_and_says_for_what() -> None:
    async with worlds.world(drivers=1) as it:
        await it.run_task("lake", SPARK)
        it.config.put("sea", SPARK, [{"index": "0"}])
        it.scheduler.assign(it.worker, "sea", 0)
        await it.until(lambda: any(told.connector == "sea" for told in it.status.troubles), "it waits")
        (told,) = it.status.troubles
        assert "runs as many already as its property spark.drivers.max says" in told.text
        it.config.delete("lake")
        await it.status_is("RUNNING", "sea", 0)
