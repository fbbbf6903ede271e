"""Offsets of exactly-once sources: former tasks are fenced before anything changes (KIP-618, KIP-875)."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

import pytest
from copycat.types.v1 import types_pb2
from copycat_connect.errors import ConfigError, CopycatError, ErrorCode

from tests.contract.gateway.fake_executor import FakeExecutor
from tests.contract.gateway.world import World, world

STOPPED, STARTED = types_pb2.TARGET_STATE_STOPPED, types_pb2.TARGET_STATE_STARTED
EXACTLY_ONCE = {"delivery.guarantee": "exactly_once"}
SINK = {"connector.class": "FileStreamSink", "topics": "t", **EXACTLY_ONCE}
BODY = {"offsets": [{"partition": {"filename": "/in"}, "offset": {"position": 5}}]}
BEFORE = {b'{"filename":"/in"}': b'{"position":57}'}
FAILED = "Failed to perform zombie fencing for source connector prior to modifying offsets"


class FencingFailedError(CopycatError):
    code = ErrorCode("fencing.failed", grpc="FAILED_PRECONDITION", http=500)


class TasksChangedError(CopycatError):
    code = ErrorCode("connector.config_changed", grpc="ABORTED", http=409)


@pytest.fixture
async def bare() -> AsyncIterator[World]:
    """A gateway of a worker whose connectors may deliver exactly once."""
    async with world(rest_worker_wait_ms="300", group_id="connect") as made:
        yield made


@pytest.fixture
def executor(worker: tuple[str, FakeExecutor]) -> FakeExecutor:
    return worker[1]


async def change(bare: World, method: str) -> tuple[int, str]:
    """Alter or reset the offsets of `c`."""
    body = BODY if method == "PATCH" else None
    reply = await bare.rest.request(method, "/connectors/c/offsets", json=body)
    return reply.status_code, reply.json()["message"]


@pytest.mark.parametrize(
    "method",
    [
        pytest.param("PATCH", marks=pytest.mark.row("K875-18")),
        pytest.param("DELETE", marks=pytest.mark.row("K875-26")),
    ],
)
async def test_former_tasks_are_fenced_before_the_connector_is_asked_and_the_offsets_change(
    bare: World, executor: FakeExecutor, method: str
) -> None:
    bare.config.has("c", EXACTLY_ONCE, state=STOPPED)
    bare.offset.source["c"] = dict(BEFORE)
    executor.handles = True
    seen: list[tuple[int, dict[bytes, bytes]]] = []
    bare.config.fencing = lambda: seen.append((len(executor.altered), dict(bare.offset.source["c"])))

    status, _ = await change(bare, method)

    assert (status, bare.config.fenced) == (200, ["c"])
    assert seen == [(0, BEFORE)]
    assert len(executor.altered) == 1
    assert bare.offset.source["c"] != BEFORE


@pytest.mark.parametrize(
    "failure",
    [
        FencingFailedError("connect-c-0 may not be used"),
        TasksChangedError("new task configurations"),
        ConfigError("admin.override.retries may not be set"),
    ],
)
@pytest.mark.parametrize(
    "method",
    [
        pytest.param("PATCH", marks=pytest.mark.row("K875-18")),
        pytest.param("DELETE", marks=pytest.mark.row("K875-26")),
    ],
)
async def test_offsets_stay_where_former_tasks_cannot_be_fenced_and_the_log_has_the_reason(
    bare: World,
    executor: FakeExecutor,
    method: str,
    failure: CopycatError,
    caplog: pytest.LogCaptureFixture,
) -> None:
    bare.config.has("c", EXACTLY_ONCE, state=STOPPED)
    bare.offset.source["c"] = dict(BEFORE)
    bare.config.fencing = failure

    with caplog.at_level(logging.ERROR):
        answer = await change(bare, method)

    assert answer == (500, FAILED)
    assert bare.offset.source["c"] == BEFORE
    assert executor.altered == []
    whys = [record.__dict__["fields"]["why"] for record in caplog.records if "fields" in record.__dict__]
    assert whys == [failure.message]


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_a_connector_that_is_resumed_while_its_tasks_are_fenced_keeps_its_offsets(
    bare: World, executor: FakeExecutor, method: str
) -> None:
    bare.config.has("c", EXACTLY_ONCE, state=STOPPED)
    bare.offset.source["c"] = dict(BEFORE)
    bare.config.fencing = lambda: bare.config.has("c", EXACTLY_ONCE, state=STARTED)

    status, message = await change(bare, method)

    assert (status, message[:37]) == (400, "Connectors must be in the STOPPED sta")
    assert bare.offset.source["c"] == BEFORE
    assert executor.altered == []


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_a_running_connector_is_refused_before_anything_is_fenced(
    bare: World, executor: FakeExecutor, method: str
) -> None:
    bare.config.has("c", EXACTLY_ONCE, state=STARTED)

    assert (await change(bare, method))[0] == 400
    assert bare.config.fenced == []


async def test_every_way_to_move_offsets_fences_first_and_no_dry_run_does(
    bare: World, executor: FakeExecutor
) -> None:
    bare.config.has("c", EXACTLY_ONCE, state=STOPPED)
    bare.offset.source["c"] = dict(BEFORE)

    for query in ("?dry_run=true", "?to=2026-11-20T10:00Z&dry_run=true"):
        await bare.rest.patch(f"/connectors/c/offsets{query}", json=None if "to" in query else BODY)
    await bare.rest.delete("/connectors/c/offsets?dry_run=true")
    dry = list(bare.config.fenced)
    await bare.rest.patch("/connectors/c/offsets?to=2026-11-20T10:00Z")
    moved = list(bare.config.fenced)
    await bare.rest.patch("/connectors/c/offsets", json=BODY)
    undone = await bare.rest.post("/connectors/c/offsets/undo")

    assert (dry, moved, bare.config.fenced) == ([], ["c"], ["c"] * 3)
    assert undone.status_code == 200, undone.text
    assert bare.offset.source["c"] == BEFORE


async def test_a_source_that_delivered_exactly_once_before_is_fenced_as_well(
    bare: World, executor: FakeExecutor
) -> None:
    bare.config.has("c", state=STOPPED)
    bare.config.connectors["c"].fencing_recorded = True

    assert (await change(bare, "DELETE"))[0] == 200
    assert bare.config.fenced == ["c"]


@pytest.mark.parametrize("config", [{}, {"delivery.guarantee": "at_most_once"}, SINK])
async def test_nothing_is_fenced_of_connectors_without_transactions(
    bare: World, executor: FakeExecutor, config: dict[str, str]
) -> None:
    bare.config.has("c", config, state=STOPPED)

    assert (await change(bare, "DELETE"))[0] == 200
    assert bare.config.fenced == []
