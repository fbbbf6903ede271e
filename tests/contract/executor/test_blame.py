"""Connectors that end the process they share, or hang in it: they are found, and nobody else suffers."""

from __future__ import annotations

import asyncio

import psutil
import pytest
from copycat.executor.v1 import executor_service_pb2 as pb
from copycat_executor.children import child_process
from copycat_rpc.configs import config_to_proto
from copycat_rpc.errors import RemoteError
from copycat_testkit.processes import command_line

from tests.contract.executor.world import SOURCE, World, world

OFF = {"errors.restart": "off"}
PATIENCE = 60.0


@pytest.fixture(autouse=True)
def _soon_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "PING_AFTER_SECONDS", 0.2)
    monkeypatch.setattr(child_process, "PING_TIMEOUT_SECONDS", 3.0)
    monkeypatch.setattr(child_process, "IDLE_PING_INTERVAL_SECONDS", 0.2)
    monkeypatch.setattr(child_process, "IDLE_PING_TIMEOUT_SECONDS", 3.0)


def processes() -> list[psutil.Process]:
    """The processes of connectors, the oldest first."""
    children = psutil.Process().children()
    found = [each for each in children if "copycat_executor.connectorhost" in command_line(each)]
    return sorted(found, key=lambda each: each.create_time())


async def validate(it: World, name: str, config: dict[str, str]) -> pb.ValidateConnectorResponse:
    request = pb.ValidateConnectorRequest(config=config_to_proto({"name": name, **config}))
    answer: pb.ValidateConnectorResponse = await it.gateway.ValidateConnector(request, timeout=PATIENCE)
    return answer


async def begin(it: World, name: str, config: dict[str, str]) -> None:
    it.config.put(name, {**SOURCE, **config})
    it.scheduler.assign(it.worker, name)


@pytest.mark.parametrize("harm", ["backtrack", "exit"])
async def test_a_validation_that_ends_its_process_is_answered_alone_and_others_are_asked_again(
    harm: str,
) -> None:
    async with world(plugin_call=PATIENCE) as it:
        hostile = asyncio.create_task(validate(it, "bad", {**SOURCE, "on.validate": harm}))
        others = [asyncio.create_task(validate(it, f"good{each}", SOURCE)) for each in range(3)]
        assert [(await each).error_count for each in others] == [0, 0, 0]
        with pytest.raises(RemoteError, match="ended the process that it ran in, where nothing else ran"):
            await hostile
        (shared,) = processes()
        with pytest.raises(RemoteError, match="ended the process that it ran in"):
            await validate(it, "bad", {**SOURCE, "on.validate": harm})
        assert processes() == [shared], "the process of the others was not touched again"


async def test_a_hostile_class_under_ever_new_names_is_kept_apart_and_its_good_configurations_work() -> None:
    async with world(plugin_call=PATIENCE) as it:
        for name in ("a", "b", "c"):
            with pytest.raises(RemoteError, match="ended the process that it ran in"):
                await validate(it, name, {**SOURCE, "on.validate": "exit"})
        (shared,) = processes()
        assert (await validate(it, "good", SOURCE)).error_count == 0
        assert processes() == [shared]


@pytest.mark.parametrize("harm", ["exit", "backtrack", "backtrack later"])
async def test_a_connector_that_ends_shared_processes_is_failed_by_itself_with_the_reason(harm: str) -> None:
    async with world(plugin_call=PATIENCE) as it:
        await begin(it, "good", {})
        await it.status_is("RUNNING", "good")
        await begin(it, "bad", {"on.start": harm, **OFF})
        await it.status_is("FAILED", "bad")
        trace = it.status.trace("bad")
        assert "ended the process that it ran in, where nothing else ran" in trace
        assert ("exit code 7" if harm == "exit" else "holds the interpreter") in trace
        await it.until(lambda: len(processes()) == 1, "its process is gone")
        await it.status_is("RUNNING", "good")
        assert set(it.status.states("good")) == {"RUNNING"}
        assert (await validate(it, "other", SOURCE)).error_count == 0


async def test_of_connectors_that_start_together_only_the_one_that_ends_its_process_is_failed() -> None:
    names = [f"good{each}" for each in range(4)]
    async with world(plugin_call=PATIENCE) as it:
        for name in names[:2]:
            await begin(it, name, {})
        await begin(it, "bad", {"on.start": "exit", **OFF})
        for name in names[2:]:
            await begin(it, name, {})
        await it.status_is("FAILED", "bad")
        for name in names:
            await it.status_is("RUNNING", name)
            assert set(it.status.states(name)) == {"RUNNING"}


async def test_a_connector_that_harms_is_restarted_by_the_policy_and_never_again_beside_others() -> None:
    async with world(plugin_call=PATIENCE) as it:
        await begin(it, "good", {})
        await it.status_is("RUNNING", "good")
        await begin(it, "bad", {"on.start": "exit", "errors.restart.backoff.ms": "100"})
        await it.status_is("FAILED", "bad")
        await it.status_is("RUNNING", "good")
        shared = processes()[0]
        await it.until(lambda: it.status.states("bad").count("FAILED") == 3, "it was restarted twice")
        assert "restart 3 of at most 30 within an hour" in it.status.trace("bad")
        assert shared.is_running()


@pytest.mark.parametrize("call", ["on.start", "on.task.configs"])
async def test_a_call_that_hangs_is_given_up_and_made_again_in_a_process_of_its_own(call: str) -> None:
    async with world(plugin_call=2.0) as it:
        await begin(it, "good", {})
        await it.status_is("RUNNING", "good")
        (shared,) = processes()
        more = {"errors.restart.backoff.ms": "100", "errors.restart.max.per.hour": "2"}
        await begin(it, "hangs", {call: "hang", **more})
        await it.until(lambda: it.status.states("hangs").count("FAILED") == 1, "it is given up")
        assert "Request timed out. The worker is currently" in it.status.trace("hangs")
        await it.until(lambda: len(processes()) == 2, "it runs apart")
        await it.until(lambda: it.status.states("hangs").count("FAILED") == 3, "it is given up for good")
        assert "after 2 restarts within an hour" in it.status.trace("hangs")
        await it.until(lambda: processes() == [shared], "its process is gone, and the others' is not")
        assert it.status.states("good") == ["RUNNING"]


async def test_a_validation_that_computes_for_ever_is_interrupted_when_nobody_waits_for_it() -> None:
    async with world(plugin_call=1.0) as it:
        (shared,) = processes()
        with pytest.raises(RemoteError) as late:
            await validate(it, "spins", {**SOURCE, "on.validate": "spin"})
        assert late.value.remote_code.name == "plugin.hangs"
        await it.until(lambda: shared.cpu_percent(0.2) < 20, "it was interrupted")
        assert processes() == [shared]


async def test_nobody_is_failed_or_kept_apart_because_the_process_of_the_connectors_starts_slowly() -> None:
    async with world(plugin_call=1.0) as it:
        (before,) = processes()
        before.kill()
        await it.until(lambda: processes() not in ([], [before]), "the next one")
        (starting,) = processes()
        starting.suspend()  # as a machine does that has too much to do
        await begin(it, "slow", OFF)
        for _ in range(3):
            with pytest.raises(RemoteError, match="currently starting the process of the connectors"):
                await validate(it, "asked", SOURCE)
        assert processes() == [starting]
        starting.resume()
        await it.status_is("RUNNING", "slow")
        assert processes() == [starting]
