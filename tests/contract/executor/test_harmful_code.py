"""Code of connectors that ends, holds or fills its process: it is found, and others run on."""

from __future__ import annotations

import asyncio
import errno
import socket
from contextlib import suppress

import psutil
import pytest
from copycat.executor.v1 import executor_service_pb2 as pb
from copycat_executor.children import child_process, question_processes
from copycat_executor.children.template import Template
from copycat_rpc.errors import RemoteError
from copycat_rpc.messages import config_to_proto

from tests.contract.executor.world import SOURCE, World, processes, template_process, validate, world

pytestmark = pytest.mark.asyncio(loop_scope="module")

OFF = {"errors.restart": "off"}
PATIENCE = 60.0


@pytest.fixture
def _soon_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_processes, "MAX_IDLE", 0)
    monkeypatch.setattr(child_process, "PING_AFTER_SECONDS", 0.2)
    monkeypatch.setattr(child_process, "HELD_SECONDS", 0.5)
    monkeypatch.setattr(child_process, "PING_TIMEOUT_SECONDS", 3.0)
    monkeypatch.setattr(child_process, "IDLE_PING_INTERVAL_SECONDS", 0.2)
    monkeypatch.setattr(child_process, "IDLE_PING_TIMEOUT_SECONDS", 3.0)


async def begin(it: World, name: str, config: dict[str, str]) -> None:
    it.config.put(name, {**SOURCE, **config})
    it.scheduler.assign(it.worker, name)


@pytest.mark.usefixtures("_soon_noticed")
async def test_while_a_connector_holds_its_process_for_ever_all_questions_are_answered_at_once(
    monkeypatch: pytest.MonkeyPatch,
    template: Template,
) -> None:
    async with world(plugin_call=PATIENCE, template=template) as it:
        await begin(it, "good", {})
        await it.status_is("RUNNING", "good")
        (shared,) = processes()
        monkeypatch.setattr(child_process, "PING_TIMEOUT_SECONDS", 1000.0)
        monkeypatch.setattr(child_process, "IDLE_PING_TIMEOUT_SECONDS", 1000.0)
        monkeypatch.setattr(child_process, "HELD_SECONDS", 1000.0)
        before = shared.cpu_times().user
        await begin(it, "bad", {"on.start": "backtrack", **OFF})
        await it.until(lambda: shared.cpu_times().user > before + 0.5, "it holds the process")
        for each in range(10):
            assert (await validate(it, SOURCE, name=f"other{each}")).error_count == 0
        assert (await it.gateway.ListPlugins(pb.ListPluginsRequest())).plugins
        keys = pb.GetPluginConfigRequest(plugin="ProbeSource")
        assert (await it.gateway.GetPluginConfig(keys)).keys
        offsets = pb.AlterOffsetsRequest(config=config_to_proto({"name": "other", **SOURCE}))
        assert not (await it.gateway.AlterOffsets(offsets)).handled
        assert processes() == [shared], "nobody has noticed yet"
        assert it.status.states("good") == ["RUNNING"]
        monkeypatch.undo()
        monkeypatch.setattr(child_process, "HELD_SECONDS", 0.5)
        await it.status_is("FAILED", "bad")
        await it.status_is("RUNNING", "good")
        assert set(it.status.states("good")) == {"RUNNING"}


@pytest.mark.usefixtures("_soon_noticed")
@pytest.mark.parametrize("harm", ["backtrack", "exit"])
async def test_a_validation_that_ends_its_process_ends_no_other(harm: str, template: Template) -> None:
    async with world(plugin_call=PATIENCE, template=template) as it:
        await begin(it, "good", {})
        await it.status_is("RUNNING", "good")
        before = processes()
        hostile = asyncio.create_task(validate(it, {**SOURCE, "on.validate": harm}, name="bad"))
        others = [asyncio.create_task(validate(it, SOURCE, name=f"good{each}")) for each in range(3)]
        assert [(await each).error_count for each in others] == [0, 0, 0]
        with pytest.raises(RemoteError, match="ended the process that it ran in, where nothing else ran"):
            await hostile
        assert processes() == before
        assert it.status.states("good") == ["RUNNING"]


@pytest.mark.usefixtures("_soon_noticed")
async def test_a_process_that_answered_well_is_asked_again_unless_something_goes_on_there(
    monkeypatch: pytest.MonkeyPatch,
    template: Template,
) -> None:
    monkeypatch.setattr(question_processes, "MAX_IDLE", 1)
    monkeypatch.setattr(question_processes, "IDLE_SECONDS", PATIENCE)
    async with world(plugin_call=PATIENCE, template=template) as it:
        for _ in range(2):
            assert (await validate(it, SOURCE, name="good")).error_count == 0
        (used,) = processes()
        assert (
            await validate(it, {**SOURCE, "on.validate": "backtrack later"}, name="leaves")
        ).error_count == 0
        assert processes() == [used]
        assert (await validate(it, SOURCE, name="good")).error_count == 0
        assert used not in processes()


@pytest.mark.usefixtures("_soon_noticed")
async def test_what_something_else_ended_is_asked_once_more(template: Template) -> None:
    async with world(plugin_call=PATIENCE, template=template) as it:
        asked = asyncio.create_task(validate(it, {**SOURCE, "on.validate": "hang"}, name="unlucky"))
        ended: set[psutil.Process] = set()

        def end_them() -> bool:
            for each in set(processes()) - ended:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
                ended.add(each)
            return asked.done()

        await it.until(end_them, "it is given up")
        assert len(ended) > 1, "it was asked again"
        with pytest.raises(RemoteError, match="exit code -9"):
            await asked


@pytest.mark.usefixtures("_soon_noticed")
@pytest.mark.parametrize("harm", ["exit", "backtrack", "backtrack later"])
async def test_a_connector_that_ends_shared_processes_is_failed_by_itself_with_the_reason(
    harm: str, template: Template
) -> None:
    async with world(plugin_call=PATIENCE, template=template) as it:
        await begin(it, "good", {})
        await it.status_is("RUNNING", "good")
        await begin(it, "bad", {"on.start": harm, **OFF})
        await it.status_is("FAILED", "bad")
        trace = it.status.trace("bad")
        assert "ended the process that it ran in, where nothing else ran" in trace
        assert ("exit code 7" if harm == "exit" else "holds the interpreter") in trace
        await it.status_is("RUNNING", "good")
        await it.until(lambda: len(processes()) == 1, "its process is gone")
        assert set(it.status.states("good")) == {"RUNNING"}
        assert (await validate(it, SOURCE, name="other")).error_count == 0


@pytest.mark.usefixtures("_soon_noticed")
async def test_of_connectors_that_start_together_only_the_one_that_ends_its_process_is_failed(
    template: Template,
) -> None:
    names = [f"good{each}" for each in range(4)]
    async with world(plugin_call=PATIENCE, template=template) as it:
        for name in names[:2]:
            await begin(it, name, {})
        await begin(it, "bad", {"on.start": "exit", **OFF})
        for name in names[2:]:
            await begin(it, name, {})
        await it.status_is("FAILED", "bad")
        for name in names:
            await it.status_is("RUNNING", name)
            assert set(it.status.states(name)) == {"RUNNING"}


@pytest.mark.usefixtures("_soon_noticed")
async def test_a_connector_that_harms_is_restarted_by_the_policy_and_never_again_beside_others(
    template: Template,
) -> None:
    async with world(plugin_call=PATIENCE, template=template) as it:
        await begin(it, "good", {})
        await it.status_is("RUNNING", "good")
        await begin(it, "bad", {"on.start": "exit", "errors.restart.backoff.ms": "100"})
        await it.until(lambda: it.status.states("good") == ["RUNNING", "RUNNING"], "the other begins anew")
        found = set(processes())
        await it.until(lambda: it.status.states("bad").count("FAILED") == 3, "it was restarted twice")
        assert "restart 3 of at most 30 within an hour" in it.status.trace("bad")
        assert found & set(processes()), "the other's process is still there"
        assert it.status.states("good") == ["RUNNING", "RUNNING"]


@pytest.mark.usefixtures("_soon_noticed")
@pytest.mark.parametrize("call", ["on.start", "on.task.configs"])
async def test_a_call_that_hangs_is_given_up_and_made_again_in_a_process_of_its_own(
    call: str, template: Template
) -> None:
    async with world(plugin_call=2.0, template=template) as it:
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


@pytest.mark.usefixtures("_soon_noticed")
async def test_a_validation_that_computes_for_ever_is_ended_when_nobody_waits_for_it(
    template: Template,
) -> None:
    async with world(plugin_call=2.0, template=template) as it:
        with pytest.raises(RemoteError) as late:
            await validate(it, {**SOURCE, "on.validate": "spin"}, name="spins")
        assert late.value.remote_code.name == "plugin.hangs"
        await it.until(lambda: processes() == [], "it was ended")


@pytest.mark.usefixtures("_soon_noticed")
async def test_nobody_is_failed_or_kept_apart_because_processes_of_connectors_start_slowly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(child_process, "PING_TIMEOUT_SECONDS", PATIENCE)
    monkeypatch.setattr(child_process, "IDLE_PING_TIMEOUT_SECONDS", PATIENCE)
    async with world(plugin_call=2.0) as it:
        slow = template_process()
        slow.suspend()  # as a machine does that has too much to do
        await begin(it, "slow", OFF)
        for _ in range(3):
            with pytest.raises(RemoteError, match="currently starting the process of the connectors"):
                await validate(it, SOURCE, name="asked")
        slow.resume()
        await it.status_is("RUNNING", "slow")
        # The copies for questions that nobody waits for any more end as soon as they are made.
        await it.until(lambda: len(processes()) == 1, "the process of connectors is the only one")


@pytest.mark.usefixtures("_soon_noticed")
async def test_connectors_run_on_without_the_template_and_the_next_one_makes_copies() -> None:
    async with world(plugin_call=PATIENCE) as it:
        await begin(it, "good", {})
        await it.status_is("RUNNING", "good")
        (shared,) = found = processes()
        template_process().kill()
        assert (await validate(it, SOURCE, name="other")).error_count == 0
        assert shared.is_running()
        assert it.status.states("good") == ["RUNNING"]
        shared.kill()
        await it.until(lambda: it.status.states("good") == ["RUNNING", "RUNNING"], "it begins anew")
        assert processes() != found


@pytest.mark.usefixtures("_soon_noticed")
async def test_copies_that_cannot_be_made_are_made_once_they_can(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    async with world(plugin_call=PATIENCE) as it:
        with monkeypatch.context() as none_left:
            none_left.setattr(socket, "socketpair", refused)
            await begin(it, "waits", OFF)
            asked = asyncio.create_task(validate(it, SOURCE, name="asked"))
            await asyncio.wait((asked,), timeout=1)
            assert not asked.done()
        assert (await asked).error_count == 0
        await it.status_is("RUNNING", "waits")


MEGABYTE = 1 << 20


def process() -> psutil.Process:
    """Return the process that the connectors share."""
    return processes()[0]


def rests(process: psutil.Process) -> bool:
    """Tell whether it uses no processor."""
    return process.cpu_percent(0.2) < 20


async def test_code_of_a_deleted_connector_that_computes_is_interrupted_and_its_process_stays(
    template: Template,
) -> None:
    async with world(template=template) as it:
        it.config.put("orders", SOURCE)
        it.scheduler.assign(it.worker, "orders")
        await it.status_is("RUNNING", "orders")
        before = process()
        it.config.put("spins", {**SOURCE, "on.task.configs": "spin"})
        it.scheduler.assign(it.worker, "spins")
        await it.until(lambda: not rests(before), "it spins")
        it.config.delete("spins")
        it.scheduler.remove("spins")
        await it.until(lambda: rests(before), "it was interrupted")
        assert process() == before


@pytest.mark.long
async def test_code_of_a_deleted_connector_that_heeds_nothing_ends_with_its_process(
    template: Template,
) -> None:
    async with world(template=template) as it:
        it.config.put("orders", SOURCE)
        it.scheduler.assign(it.worker, "orders")
        await it.status_is("RUNNING", "orders")
        before = process()
        it.config.put("spins", {**SOURCE, "on.task.configs": "spin whatever is raised"})
        it.scheduler.assign(it.worker, "spins")
        await it.until(lambda: not rests(before), "it spins")
        it.config.delete("spins")
        it.scheduler.remove("spins")
        await it.until(lambda: processes() not in ([], [before]), "another process")
        await it.until(lambda: it.status.states("orders") == ["RUNNING", "RUNNING"], "it begins anew")


@pytest.mark.parametrize("call", ["on.start", "on.task.configs"])
async def test_a_connector_that_takes_too_much_memory_fails_alone_and_its_status_says_why(call: str) -> None:
    async with world(properties={"connector.memory.max": str(300 * MEGABYTE)}) as it:
        it.config.put("orders", SOURCE)
        it.scheduler.assign(it.worker, "orders")
        await it.status_is("RUNNING", "orders")
        before = process()
        it.config.put("leaks", {**SOURCE, call: "leak", "errors.restart": "off"})
        it.scheduler.assign(it.worker, "leaks")
        await it.status_is("FAILED", "leaks")
        assert "connector.memory.max allows 300 MB" in it.status.trace("leaks")
        assert (process(), it.status.states("orders")) == (before, ["RUNNING"])
