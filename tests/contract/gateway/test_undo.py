"""/connectors/{name}/offsets/undo: the last change is remembered, shown and taken back."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.errors import ConnectError, CopycatError

from tests.contract.gateway.fake_executor import FakeExecutor
from tests.contract.gateway.world import World

STOPPED = types_pb2.TARGET_STATE_STOPPED
SINK = {"connector.class": "FileStreamSink", "topics": "t"}
OFFSETS, UNDO = "/connectors/c/offsets", "/connectors/c/offsets/undo"
A, B = b'{"f":1}', b'{"f":2}'
Worker = tuple[str, FakeExecutor]


def source_body(**offsets: int | None) -> dict[str, Any]:
    """Return a body that sets partitions `f1`, `f2` ..."""
    return {
        "offsets": [
            {"partition": {"f": int(name[1:])}, "offset": None if offset is None else {"p": offset}}
            for name, offset in offsets.items()
        ]
    }


def sink_body(*offsets: int | None) -> dict[str, Any]:
    """Return a body that sets the first partitions."""
    return {
        "offsets": [
            {
                "partition": {"kafka_topic": "t", "kafka_partition": number},
                "offset": None if offset is None else {"kafka_offset": offset},
            }
            for number, offset in enumerate(offsets)
        ]
    }


async def altered(bare: World, body: dict[str, Any]) -> None:
    """Alter offsets."""
    reply = await bare.rest.patch(OFFSETS, json=body)
    assert reply.status_code == 200, reply.text


async def undone(bare: World, query: str = "") -> tuple[int, dict[str, Any]]:
    """Undo; returns status and body."""
    reply = await bare.rest.post(f"{UNDO}{query}")
    return reply.status_code, reply.json()


@pytest.fixture
def source(bare: World, worker: Worker) -> dict[bytes, bytes]:
    """A stopped source and its offsets."""
    bare.config.has("c", state=STOPPED)
    bare.offset.source["c"] = {A: b'{"p":1}', B: b'{"p":2}'}
    return bare.offset.source["c"]


@pytest.fixture
def sink(bare: World, worker: Worker) -> dict[tuple[str, int], int]:
    """A stopped sink and its positions."""
    bare.config.has("c", SINK, state=STOPPED)
    bare.offset.groups["connect-c"] = {("t", 0): 50, ("t", 1): 60}
    return bare.offset.groups["connect-c"]


async def test_an_altered_source_goes_back(
    bare: World, worker: Worker, source: dict[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="copycat_gateway")
    _, executor = worker
    await altered(bare, source_body(f1=9, f3=3))
    assert source == {A: b'{"p":9}', B: b'{"p":2}', b'{"f":3}': b'{"p":3}'}

    status, said = await undone(bare, "?dry_run=true")
    assert (status, said["dry_run"]) == (200, True)
    assert source[A] == b'{"p":9}'

    status, said = await undone(bare)
    assert status == 200, said
    assert said["message"].startswith("The Connect framework-managed offsets for this connector have been")
    assert [(moved["before"], moved["after"]) for moved in said["offsets"]] == [
        ({"p": 9}, {"p": 1}),
        ({"p": 3}, None),
    ]
    assert source == {A: b'{"p":1}', B: b'{"p":2}'}
    assert len(executor.altered) == 2
    [line] = [record for record in caplog.records if record.getMessage() == "offsets change undone"]
    assert line.__dict__["fields"]["partitions"] == 2


async def test_what_was_undone_stays_undone(bare: World, source: dict[bytes, bytes]) -> None:
    await altered(bare, source_body(f1=9))
    await undone(bare)
    status, said = await undone(bare)
    assert (status, "was undone at" in said["message"]) == (409, True)
    assert source[A] == b'{"p":1}'


async def test_an_altered_sink_goes_back(bare: World, sink: dict[tuple[str, int], int]) -> None:
    await altered(bare, sink_body(5, None, 7))
    assert sink == {("t", 0): 5, ("t", 2): 7}
    bare.offset.effects = [
        pb.SinkEffect(move=pb.SinkMove(topic="t", partition=0, before=5, after=50)),
        pb.SinkEffect(move=pb.SinkMove(topic="t", partition=1, after=60)),
        pb.SinkEffect(move=pb.SinkMove(topic="t", partition=2, before=7)),
    ]
    status, said = await undone(bare)
    assert status == 200, said
    [asked] = bare.offset.asked
    assert [(each.partition, each.offset) for each in asked.offsets] == [(0, 50), (1, 60)]
    assert [each.partition for each in asked.removed] == [2]
    assert sink == {("t", 0): 50, ("t", 1): 60}


async def test_a_reset_is_undone(bare: World, source: dict[bytes, bytes]) -> None:
    assert (await bare.rest.delete(OFFSETS)).status_code == 200
    assert source == {}
    assert (await undone(bare))[0] == 200
    assert source == {A: b'{"p":1}', B: b'{"p":2}'}


async def test_the_group_of_a_sink_that_was_reset_comes_back(
    bare: World, sink: dict[tuple[str, int], int]
) -> None:
    assert (await bare.rest.delete(OFFSETS)).status_code == 200
    bare.offset.effects = [
        pb.SinkEffect(move=pb.SinkMove(topic="t", partition=0, after=50)),
        pb.SinkEffect(move=pb.SinkMove(topic="t", partition=1, after=60)),
    ]
    assert (await undone(bare))[0] == 200
    assert bare.offset.groups["connect-c"] == {("t", 0): 50, ("t", 1): 60}


async def test_the_last_change_is_shown(bare: World, source: dict[bytes, bytes]) -> None:
    assert (await bare.rest.get(UNDO)).json() == {"change": None}
    await altered(bare, source_body(f1=9, f2=2))
    change = (await bare.rest.get(UNDO)).json()["change"]
    assert change.pop("changed_at").endswith("Z")
    # A partition that stayed where it was is no part of it.
    assert change == {
        "undone_at": None,
        "kind": "alter",
        "offsets": [{"partition": {"f": 1}, "before": {"p": 1}, "after": {"p": 9}}],
    }
    assert (await bare.rest.get("/connectors/nobody/offsets/undo")).status_code == 404


async def test_a_change_that_moves_nothing_leaves_the_one_before(
    bare: World, source: dict[bytes, bytes]
) -> None:
    await altered(bare, source_body(f1=9))
    kept = bare.offset.changes["c"]
    await altered(bare, source_body(f1=9))
    assert bare.offset.changes["c"] == kept
    bare.offset.source["c"].clear()
    assert (await bare.rest.delete(OFFSETS)).status_code == 200
    assert bare.offset.changes["c"] == kept


async def test_a_change_that_the_connector_refuses_is_not_remembered(
    bare: World, worker: Worker, source: dict[bytes, bytes]
) -> None:
    worker[1].fails = ConnectError("no")
    assert (await bare.rest.patch(OFFSETS, json=source_body(f1=9))).status_code == 500
    assert bare.offset.changes == {}


@pytest.mark.parametrize("kind", ["source", "sink"])
async def test_what_cannot_be_remembered_is_not_changed(bare: World, worker: Worker, kind: str) -> None:
    bare.config.has("c", SINK if kind == "sink" else None, state=STOPPED)
    bare.offset.source["c"] = {A: b'{"p":1}'}
    bare.offset.groups["connect-c"] = {("t", 0): 50}
    bare.offset.cannot_remember = CopycatError("the log is away")
    body = sink_body(5) if kind == "sink" else source_body(f1=9)
    for reply in (await bare.rest.patch(OFFSETS, json=body), await bare.rest.delete(OFFSETS)):
        assert reply.status_code == 500
        assert reply.json()["message"].startswith("Failed to")
    assert bare.offset.source["c"] == {A: b'{"p":1}'}
    assert bare.offset.groups["connect-c"] == {("t", 0): 50}


async def test_nothing_is_undone_where_no_change_is_remembered(
    bare: World, source: dict[bytes, bytes]
) -> None:
    status, said = await undone(bare)
    assert (status, said["message"]) == (
        409,
        "No change of the offsets of connector c is remembered: there is nothing to undo",
    )
    assert (await bare.rest.post("/connectors/nobody/offsets/undo")).status_code == 404


@pytest.mark.parametrize("query", ["", "?dry_run=true"])
async def test_a_change_after_which_something_moved_is_not_undone(
    bare: World, source: dict[bytes, bytes], query: str
) -> None:
    await altered(bare, source_body(f1=9))
    source[A] = b'{"p":12}'
    status, said = await undone(bare, query)
    assert status == 409
    assert 'partition {"f":1} was left at {"p":9} and is at {"p":12}' in said["message"]
    assert "PATCH /connectors/c/offsets" in said["message"]
    assert source[A] == b'{"p":12}'


async def test_many_that_moved_are_counted(bare: World, sink: dict[tuple[str, int], int]) -> None:
    await altered(bare, sink_body(*range(5)))
    bare.offset.groups["connect-c"] = {("t", number): 99 for number in range(5)}
    status, said = await undone(bare)
    assert status == 409
    assert "was left at 0 and is at 99" in said["message"]
    assert ", and 2 more. To undo" in said["message"]


async def test_a_partition_that_came_after_a_reset_is_not_thrown_away(
    bare: World, source: dict[bytes, bytes]
) -> None:
    await bare.rest.delete(OFFSETS)
    source[b'{"f":7}'] = b'{"p":1}'
    status, said = await undone(bare)
    assert (status, 'partition {"f":7} had no offset and is at {"p":1}' in said["message"]) == (409, True)


async def test_a_change_that_failed_half_way_is_undone(bare: World, source: dict[bytes, bytes]) -> None:
    await altered(bare, source_body(f1=9, f2=9))
    source[B] = b'{"p":2}'
    assert (await undone(bare))[0] == 200
    assert source == {A: b'{"p":1}', B: b'{"p":2}'}


async def test_a_change_of_another_group_is_not_undone(bare: World, sink: dict[tuple[str, int], int]) -> None:
    await altered(bare, sink_body(5))
    bare.config.has("c", {**SINK, "consumer.override.group.id": "other"}, state=STOPPED)
    status, said = await undone(bare)
    assert status == 409
    assert "was made in consumer group connect-c; now they are in consumer group other" in said["message"]


async def test_a_change_too_large_to_be_kept_says_so(bare: World, source: dict[bytes, bytes]) -> None:
    bare.offset.changes["c"] = pb.OffsetsChange(connector="c", changed_at=1000, too_large=True)
    status, said = await undone(bare)
    assert (status, "moved too many partitions to be remembered" in said["message"]) == (409, True)


async def test_a_connector_that_is_not_stopped_is_only_asked(bare: World, worker: Worker) -> None:
    bare.config.has("c")
    bare.offset.source["c"] = {A: b'{"p":9}'}
    move = pb.SourceMove(partition=A, before=b'{"p":1}', after=b'{"p":9}')
    bare.offset.changes["c"] = pb.OffsetsChange(connector="c", changed_at=1000, source_moves=[move])
    status, said = await undone(bare, "?dry_run=true")
    assert (status, "not stopped" in said["notes"][0]) == (200, True)
    assert (await undone(bare))[0] == 400
    assert bare.offset.source["c"] == {A: b'{"p":9}'}
