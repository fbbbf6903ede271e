"""Connectors without tasks: what their work waits for, or cannot be divided for, is shown while it lasts."""

from __future__ import annotations

from pathlib import Path

import pytest
from copycat.status.v1 import status_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.retry import RetryPolicy
from copycat_executor.children.template import Template
from copycat_executor.connectors import publishing
from copycat_executor.outbox import trouble_outbox

from tests.contract.executor.world import SOURCE, World, world

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def begin(it: World, config: dict[str, str]) -> int:
    it.config.put("orders", {**SOURCE, **config})
    return it.scheduler.assign(it.worker, "orders")


def is_publishing(it: World) -> bool:
    running = it.executor.runs.connector("orders").running
    return running is not None and running.publishing


async def trouble_of(it: World) -> pb.Trouble:
    """Wait until there is one, which is the connector's own."""
    await it.until(lambda: bool(it.status.troubles), "a trouble")
    (told,) = it.status.troubles
    assert told.connector == "orders"
    assert not told.HasField("task")
    return told


async def well(it: World) -> None:
    await it.until(lambda: bool(it.config.published), "tasks are published")
    await it.until(lambda: not it.status.troubles, "no trouble any more")


async def test_a_source_that_is_away_is_waited_for_until_the_work_can_be_divided(
    tmp_path: Path, template: Template
) -> None:
    source = tmp_path / "source"
    async with world(template=template) as it:
        generation = await begin(it, {"source": str(source)})
        told = await trouble_of(it)
        assert (told.kind, told.text) == (pb.TROUBLE_KIND_WAITS, f"{source} is not there")
        assert (told.generation, told.lasting) == (generation, False)
        assert it.status.states("orders") == ["RUNNING"], "as in Kafka Connect"
        assert it.config.published == [], "tasks that there may be go on"
        source.touch()
        await well(it)


async def test_what_somebody_has_to_mend_is_told_as_lasting_with_its_error(
    tmp_path: Path, template: Template
) -> None:
    source = tmp_path / "source"
    async with world(template=template) as it:
        await begin(it, {"source": str(source), "source.lost": "true"})
        told = await trouble_of(it)
        assert (told.kind, told.call, told.lasting) == (pb.TROUBLE_KIND_RETRIES, "task_configs", True)
        assert told.text == f"ConnectException: {source} is not there"
        await it.until(lambda: it.status.troubles[0].tries >= 3, "it is tried again")
        assert it.status.troubles[0].since_ms == told.since_ms
        source.touch()
        await well(it)


async def test_a_connector_that_says_its_source_is_back_is_asked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, template: Template
) -> None:
    monkeypatch.setattr(publishing, "RETRY", RetryPolicy(first=600.0, ceiling=600.0))
    monkeypatch.setattr(publishing, "SHORTEST_PAUSE_SECONDS", 0.0)
    source = tmp_path / "source"
    async with world(template=template) as it:
        await begin(it, {"source": str(source), "source.watched": "true"})
        await trouble_of(it)
        source.touch()
        await well(it)


async def test_what_a_connector_says_it_waits_for_is_told_without_its_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROBE_SECRET", "correct horse")
    properties = {
        "config.providers": "env",
        "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    }
    source = tmp_path / "source"
    async with world(properties=properties) as it:
        says = "a table that ${env:PROBE_SECRET} may read"
        await begin(it, {"source": str(source), "source.says": says})
        told = await trouble_of(it)
        assert (told.kind, told.text) == (pb.TROUBLE_KIND_WAITS, says)
        await it.until(lambda: len(it.config.published) == 1, "it has its task all the same")
        await it.until(lambda: not is_publishing(it), "that is over")
        source.touch()
        it.executor.runs.connector("orders").change(publish_due=True)
        await it.until(lambda: not it.status.troubles)


@pytest.mark.parametrize("says", ["", "a table"], ids=["raised", "said"])
async def test_who_is_told_to_rest_or_deleted_waits_for_nothing(
    tmp_path: Path, says: str, template: Template
) -> None:
    async with world(template=template) as it:
        await begin(it, {"source": str(tmp_path / "source"), "source.says": says})
        for target in (types_pb2.TARGET_STATE_PAUSED, types_pb2.TARGET_STATE_STOPPED):
            await trouble_of(it)
            it.config.target("orders", target)
            await it.until(lambda: not it.status.troubles)
            it.config.target("orders", types_pb2.TARGET_STATE_STARTED)
        await trouble_of(it)
        it.config.delete("orders")
        it.scheduler.remove("orders")
        await it.until(lambda: not it.status.troubles)


async def test_what_lasts_is_a_line_with_the_connector_and_an_act_and_so_is_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, template: Template
) -> None:
    caplog.set_level("INFO")
    monkeypatch.setattr(trouble_outbox, "NOTED_AFTER_SECONDS", 0.2)
    source = tmp_path / "source"
    async with world(template=template) as it:
        await begin(it, {"source": str(source)})
        why = f"{source} is not there"
        await it.until(lambda: it.status.acts == [("waits", why)], "it is in the history")
        (line,) = (each for each in caplog.records if each.getMessage() == "connector waits")
        fields = line.__dict__["fields"]
        assert (fields["connector"], fields["why"], line.levelname) == ("orders", why, "WARNING")
        source.touch()
        await well(it)
        await it.until(lambda: it.status.acts[1:] == [("moves again", "")], "and its end")
        assert "connector moves again" in caplog.messages
