"""Connectors on a worker: what the status says, what is published, what a restart does."""

from __future__ import annotations

import asyncio

import pytest
from copycat.executor.v1 import executor_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_executor.children.template import Template
from copycat_rpc.errors import RemoteError

from tests.contract.executor.world import SINK, SOURCE, World, world

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def begin(it: World, config: dict[str, str]) -> int:
    it.config.put("orders", config)
    return it.scheduler.assign(it.worker, "orders")


async def test_an_assigned_connector_runs_and_publishes_its_tasks(template: Template) -> None:
    async with world(template=template) as it:
        generation = await begin(it, {**SOURCE, "tasks": "2"})
        await it.until(lambda: len(it.config.published) == 1)
        assert [task["index"] for task in it.config.tasks("orders")] == ["0", "1"]
        assert it.config.tasks("orders")[0]["task.class"] == "probe.Task"
        assert it.status.state("orders") == "RUNNING"
        assert it.status.last("orders").generation == generation
        assert it.status.last("orders").worker_id == it.worker
        assert it.status.last("orders").version == "1.2"
        await it.until(lambda: it.scheduler.held == {("orders", None): generation})


async def test_a_sinks_tasks_get_its_topics(template: Template) -> None:
    async with world(template=template) as it:
        await begin(it, SINK)
        await it.until(lambda: len(it.config.published) == 1)
        assert it.config.tasks("orders")[0]["topics"] == "in"


async def test_secrets_are_resolved_for_the_author_and_published_as_placeholders(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PROBE_SECRET", "correct horse")
    properties = {
        "config.providers": "env",
        "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    }
    async with world(properties=properties) as it:
        await begin(it, {**SOURCE, "secret": "${env:PROBE_SECRET}"})
        await it.until(lambda: len(it.config.published) == 1)
        assert it.config.tasks("orders")[0]["secret"] == "${env:PROBE_SECRET}"


async def test_a_connector_that_fails_to_start_says_why_and_starts_again_only_with_a_new_config(
    template: Template,
) -> None:
    async with world(template=template) as it:
        await begin(it, {**SOURCE, "on.start": "raise"})
        await it.status_is("FAILED", "orders")
        assert "the author says no" in it.status.trace("orders")
        it.config.put("orders", SOURCE)
        await it.status_is("RUNNING", "orders")
        assert it.status.states("orders") == ["FAILED", "RUNNING"]


@pytest.mark.parametrize("what", ["sys.exit", "cancel", "panic", "unreadable", "raise 100 MB"])
async def test_a_connector_whose_start_raises_anything_fails_and_starts_again(
    what: str, template: Template
) -> None:
    async with world(template=template) as it:
        await begin(it, {**SOURCE, "on.start": what})
        await it.status_is("FAILED", "orders")
        assert len(it.status.trace("orders")) < 110_000
        it.config.put("orders", SOURCE)
        await it.status_is("RUNNING", "orders")


@pytest.mark.parametrize("what", ["sys.exit", "unreadable"])
async def test_a_connector_whose_task_configs_raise_anything_is_asked_on(
    what: str, template: Template
) -> None:
    async with world(template=template) as it:
        await begin(it, {**SOURCE, "on.task.configs": what})
        await it.status_is("RUNNING", "orders")
        it.config.put("orders", SOURCE)
        await it.until(lambda: len(it.config.published) == 1)


async def test_a_connector_whose_stop_exits_says_so_and_starts_again(template: Template) -> None:
    async with world(template=template) as it:
        await begin(it, {**SOURCE, "on.stop": "sys.exit"})
        await it.status_is("RUNNING", "orders")
        it.config.put("orders", {**SOURCE, "tasks": "2"})
        await it.until(lambda: it.status.states("orders") == ["RUNNING", "FAILED", "RUNNING"])


async def test_a_connector_that_is_not_to_run_shows_its_version_all_the_same(template: Template) -> None:
    async with world(template=template) as it:
        it.config.put("orders", SOURCE, target=types_pb2.TARGET_STATE_STOPPED)
        it.scheduler.assign(it.worker, "orders")
        await it.status_is("STOPPED", "orders")
        assert it.status.last("orders").version == "1.2"


async def test_a_connector_without_its_plugin_can_be_at_rest(template: Template) -> None:
    async with world(template=template) as it:
        it.config.put("orders", {**SOURCE, "connector.class": "Gone"}, target=types_pb2.TARGET_STATE_STOPPED)
        it.scheduler.assign(it.worker, "orders")
        await it.status_is("STOPPED", "orders")
        assert not it.status.last("orders").HasField("version")


async def test_a_connector_follows_its_target_state(template: Template) -> None:
    async with world(template=template) as it:
        await begin(it, SOURCE)
        await it.until(lambda: len(it.config.published) == 1)
        it.config.target("orders", types_pb2.TARGET_STATE_PAUSED)
        await it.status_is("PAUSED", "orders")
        it.config.target("orders", types_pb2.TARGET_STATE_STOPPED)
        await it.status_is("STOPPED", "orders")
        it.config.target("orders", types_pb2.TARGET_STATE_STARTED)
        await it.until(lambda: len(it.config.published) == 2, "resumed and reconfigured")
        assert it.status.states("orders") == ["RUNNING", "PAUSED", "STOPPED", "RUNNING"]


async def test_a_connector_created_paused_is_not_started(template: Template) -> None:
    async with world(template=template) as it:
        paused = types_pb2.TARGET_STATE_PAUSED
        it.config.put("orders", {**SOURCE, "on.start": "raise"}, target=paused)
        it.scheduler.assign(it.worker, "orders")
        await it.status_is("PAUSED", "orders")


@pytest.mark.row("K875-37")
async def test_a_failing_stop_fails_a_pause_but_not_a_stop(template: Template) -> None:
    async with world(template=template) as it:
        await begin(it, {**SOURCE, "on.stop": "raise"})
        await it.until(lambda: len(it.config.published) == 1)
        it.config.target("orders", types_pb2.TARGET_STATE_PAUSED)
        await it.status_is("FAILED", "orders")
        it.config.target("orders", types_pb2.TARGET_STATE_STOPPED)
        await it.status_is("STOPPED", "orders")


@pytest.mark.row("K875-38")
async def test_a_stopped_connector_that_wants_other_tasks_gets_none(template: Template) -> None:
    async with world(template=template) as it:
        await begin(it, {**SOURCE, "on.stop": "reconfigure"})
        await it.until(lambda: len(it.config.published) == 1)
        it.config.target("orders", types_pb2.TARGET_STATE_STOPPED)
        await it.status_is("STOPPED", "orders")
        it.config.put("bills", SOURCE)  # its words come by the same way, later
        it.scheduler.assign(it.worker, "bills")
        await it.until(lambda: len(it.config.published) == 2)

        assert [each.connector for each in it.config.published] == ["orders", "bills"]
        assert it.config.tasks("orders") == []


@pytest.mark.row("K26-21")
async def test_too_many_tasks_fail_the_connector_and_publish_nothing(template: Template) -> None:
    async with world(template=template) as it:
        await begin(it, {**SOURCE, "tasks": "5"})
        await it.status_is("FAILED", "orders")
        assert "has generated 5 tasks, which is greater than 4" in it.status.trace("orders")
        assert it.config.published == []


async def test_too_many_tasks_are_published_when_that_is_permitted(template: Template) -> None:
    async with world(template=template) as it:
        await begin(it, {**SOURCE, "tasks": "5", "tasks.max.enforce": "false"})
        await it.until(lambda: len(it.config.published) == 1)


async def test_a_connector_is_asked_for_no_more_tasks_than_the_worker_allows_and_its_status_says_so(
    template: Template,
) -> None:
    async with world(max_tasks=3, template=template) as it:
        await begin(it, {**SOURCE, "tasks": "all", "tasks.max": "1000000000"})
        await it.until(lambda: len(it.config.tasks("orders")) == 3)
        await it.status_is("RUNNING", "orders")
        said = it.status.trace("orders")
        assert "tasks.max=1000000000 was limited" in said
        assert "max.tasks.per.connector" in said


@pytest.mark.parametrize("more", [{}, {"tasks.max.enforce": "false"}], ids=["enforced", "not enforced"])
async def test_more_tasks_than_the_worker_allows_fail_the_connector(
    more: dict[str, str], template: Template
) -> None:
    async with world(max_tasks=3, template=template) as it:
        await begin(it, {**SOURCE, "tasks": "4", "tasks.max": "4", **more})
        await it.status_is("FAILED", "orders")
        assert "has generated 4 tasks, more than the 3" in it.status.trace("orders")
        assert "max.tasks.per.connector" in it.status.trace("orders")
        assert it.config.published == []


async def test_a_connector_that_asks_for_reconfiguration_is_asked_again(template: Template) -> None:
    async with world(template=template) as it:
        await begin(it, {**SOURCE, "reconfigure.later": "true"})
        await it.until(lambda: len(it.config.tasks("orders")) == 2)


async def test_a_connector_that_fails_in_a_thread_of_its_own_is_failed(template: Template) -> None:
    async with world(template=template) as it:
        await begin(it, {**SOURCE, "fail.later": "true"})
        await it.status_is("FAILED", "orders")
        assert "found out later" in it.status.trace("orders")


async def test_a_hanging_start_fails_one_connector_and_holds_up_nobody(template: Template) -> None:
    async with world(plugin_call=1.0, template=template) as it:
        it.config.put("hangs", {**SOURCE, "on.start": "hang"})
        it.scheduler.assign(it.worker, "hangs")
        await it.until(lambda: ("hangs", None) in it.scheduler.held)
        await begin(it, SOURCE)
        await it.status_is("RUNNING", "orders")
        assert it.status.states("hangs") == []
        await it.status_is("FAILED", "hangs")
        assert "starting the connector" in it.status.trace("hangs")


async def test_a_hanging_start_is_given_up_when_the_connector_is_deleted(template: Template) -> None:
    async with world(plugin_call=60.0, template=template) as it:
        await begin(it, {**SOURCE, "on.start": "hang"})
        await it.until(lambda: ("orders", None) in it.scheduler.held)
        it.config.delete("orders")
        await it.until(lambda: it.scheduler.held == {})
        assert it.status.history == []


async def test_a_plugin_that_ends_the_process_takes_nobody_with_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("COPYCAT_PROBE_MARKER", f"{tmp_path}/marker")
    async with world() as it:
        await begin(it, SOURCE)
        await it.until(lambda: len(it.config.published) == 1)
        it.config.put("kills", {**SOURCE, "on.start": "exit once"})
        it.scheduler.assign(it.worker, "kills")
        await it.status_is("RUNNING", "kills")
        await it.until(lambda: len([p for p in it.config.published if p.connector == "orders"]) == 2)
        assert set(it.status.states("orders")) == {"RUNNING"}


async def test_a_plugin_that_always_ends_the_process_is_failed(template: Template) -> None:
    async with world(template=template) as it:
        await begin(it, {**SOURCE, "on.start": "exit"})
        await it.status_is("FAILED", "orders")
        assert "exit code 7" in it.status.trace("orders")


async def test_a_connector_moved_away_is_unassigned_and_let_go(template: Template) -> None:
    async with world(template=template) as it:
        generation = await begin(it, SOURCE)
        await it.status_is("RUNNING", "orders")
        it.scheduler.assign("127.0.0.1:1", "orders")
        await it.status_is("UNASSIGNED", "orders")
        await it.until(lambda: it.scheduler.held == {})
        assert it.status.last("orders").generation == generation


async def test_a_connector_deleted_and_made_again_at_once_begins_anew(template: Template) -> None:
    async with world(template=template) as it:
        await begin(it, SOURCE)
        await it.until(lambda: len(it.config.published) == 1)
        it.config.delete("orders")
        it.config.put("orders", SOURCE)
        await it.until(lambda: len(it.config.published) == 2, "asked for its tasks again")


async def test_a_deleted_connector_leaves_no_status_behind(template: Template) -> None:
    async with world(template=template) as it:
        await begin(it, SOURCE)
        await it.status_is("RUNNING", "orders")
        it.config.delete("orders")
        await it.until(lambda: it.scheduler.held == {})
        assert it.status.states("orders") == ["RUNNING"]


async def test_a_plain_restart_answers_once_the_connector_runs_and_was_asked_for_tasks(
    template: Template,
) -> None:
    async with world(template=template) as it:
        await begin(it, SOURCE)
        await it.until(lambda: len(it.config.published) == 1)
        await it.gateway.RestartConnector(pb.RestartConnectorRequest(connector="orders"), timeout=10)
        assert len(it.config.published) == 2


async def test_a_restart_that_fails_says_so(template: Template) -> None:
    async with world(template=template) as it:
        await begin(it, {**SOURCE, "on.start": "raise"})
        await it.status_is("FAILED", "orders")
        with pytest.raises(RemoteError, match="Failed to start connector: orders"):
            await it.gateway.RestartConnector(pb.RestartConnectorRequest(connector="orders"), timeout=10)


async def test_a_connector_that_runs_elsewhere_cannot_be_restarted_here(template: Template) -> None:
    async with world(template=template) as it:
        with pytest.raises(RemoteError) as refused:
            await it.gateway.RestartConnector(pb.RestartConnectorRequest(connector="orders"), timeout=10)
        assert refused.value.remote_code.name == "instance.unassigned"


async def test_a_flagged_restart_passes_through_restarting(template: Template) -> None:
    async with world(template=template) as it:
        await begin(it, SOURCE)
        await it.until(lambda: len(it.config.published) == 1)
        it.scheduler.assign(it.worker, "orders", 0)
        await it.status_is("RUNNING", "orders", 0)
        it.config.restart("orders", include_tasks=True, only_failed=False)
        await it.until(lambda: len(it.launcher.of("orders-0").started) == 2)
        await it.until(lambda: it.status.states("orders", 0)[-2:] == ["RESTARTING", "RUNNING"])
        await it.until(lambda: it.status.states("orders")[-2:] == ["RESTARTING", "RUNNING"])


async def test_watches_that_break_are_resumed(template: Template) -> None:
    async with world(template=template) as it:
        await begin(it, SOURCE)
        await it.status_is("RUNNING", "orders")
        it.config.watch.cut()
        it.scheduler.watch.cut()
        await asyncio.sleep(0)
        it.config.target("orders", types_pb2.TARGET_STATE_PAUSED)
        await it.until(lambda: it.config.watch._watchers != [])
        it.config.target("orders", types_pb2.TARGET_STATE_PAUSED)
        await it.status_is("PAUSED", "orders")
