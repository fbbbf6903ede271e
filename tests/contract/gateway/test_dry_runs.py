"""PATCH and DELETE /connectors/{name}/offsets that say what they would do: `dry_run`, and moves to a time."""

from __future__ import annotations

import time
from typing import Any

import pytest
from copycat.executor.v1 import executor_service_pb2 as executor_pb
from copycat.offset.v1 import offset_service_pb2 as pb
from copycat.types.v1 import types_pb2
from copycat_connect.errors import ConnectError

from tests.contract.gateway.fake_executor import FakeExecutor
from tests.contract.gateway.world import World

STOPPED = types_pb2.TARGET_STATE_STOPPED
SINK = {"connector.class": "FileStreamSink", "topics": "t"}
PATH = "/connectors/c/offsets"
ONE_SINK = {
    "offsets": [{"partition": {"kafka_topic": "t", "kafka_partition": 0}, "offset": {"kafka_offset": 5}}]
}
ONE_SOURCE = {"offsets": [{"partition": {"filename": "/in"}, "offset": {"position": 5}}]}
DRY = "Nothing was changed: this was a dry run"
Worker = tuple[str, FakeExecutor]


def effect(before: int | None, after: int | None, partition: int = 0, **more: Any) -> pb.SinkEffect:
    """Return what a move does in a partition that holds the offsets 0 to 99."""
    move = pb.SinkMove(topic="t", partition=partition, before=before, after=after)
    return pb.SinkEffect(**{"move": move, "low": 0, "high": 100, **more})


async def told(bare: World, method: str, query: str, **given: Any) -> dict[str, Any]:
    """Return the answer to a request that is accepted."""
    reply = await bare.rest.request(method, f"{PATH}{query}", **given)
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


async def refused(bare: World, method: str, query: str, **given: Any) -> tuple[int, str]:
    """Return status and message of a request that is refused."""
    reply = await bare.rest.request(method, f"{PATH}{query}", **given)
    return reply.status_code, str(reply.json()["message"])


async def test_a_dry_run_of_a_source_is_told_by_the_connector_and_changes_nothing(
    bare: World, worker: Worker
) -> None:
    _, executor = worker
    bare.config.has("c", state=STOPPED)
    bare.offset.source["c"] = {b'{"filename":"/in"}': b'{"position":57}'}
    executor.explains = [executor_pb.OffsetsEffect(repeated_count=4, skipped_count=0, unit="lines")]

    said = await told(bare, "PATCH", "?dry_run=true", json=ONE_SOURCE)

    assert said.pop("notes")
    assert said == {
        "dry_run": True,
        "message": DRY,
        "time": None,
        "offsets": [
            {
                "partition": {"filename": "/in"},
                "before": {"position": 57},
                "after": {"position": 5},
                "effect": {"repeated": 4, "skipped": 0, "unit": "lines", "text": "repeats at most 4 lines"},
            }
        ],
    }
    assert executor.asked_moves == [
        executor_pb.OffsetsMove(
            partition=b'{"filename":"/in"}', before=b'{"position":57}', after=b'{"position":5}'
        )
    ]
    assert bare.offset.source["c"] == {b'{"filename":"/in"}': b'{"position":57}'}
    assert executor.altered == []
    assert bare.offset.changes == {}


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ({"lsn": 9, "file": "a"}, {"lsn": 4, "file": "b"}, "repeats: lsn back by 5"),
        ({"lsn": 4}, {"lsn": 9}, "skips: lsn forward by 5"),
        ({"a": 1, "b": 5}, {"a": 2, "b": 3}, "moves: a forward by 1, b back by 2"),
        ({"file": "a"}, {"file": "b"}, "what is repeated or skipped cannot be told"),
        ({"lsn": 4}, {"lsn": 4}, "repeats and skips nothing"),
        ({"lsn": 4}, None, "begins again from the start"),
        (None, {"lsn": 4}, "this partition had no offset: it is added"),
    ],
)
async def test_without_the_connector_numbers_say_where_a_source_goes(
    bare: World, worker: Worker, before: Any, after: Any, text: str
) -> None:
    bare.config.has("c")
    bare.config.has("c", state=STOPPED)
    if before is not None:
        await told(bare, "PATCH", "", json={"offsets": [{"partition": {"p": 1}, "offset": before}]})
    body = {"offsets": [{"partition": {"p": 1}, "offset": after}]}

    [moved] = (await told(bare, "PATCH", "?dry_run=true", json=body))["offsets"]

    assert moved["effect"]["text"].startswith(text)
    assert (moved["effect"]["repeated"], moved["effect"]["skipped"]) == (None, None)


async def test_a_connector_that_fails_to_explain_is_a_note(bare: World, worker: Worker) -> None:
    _, executor = worker
    executor.cannot_explain = ConnectError("no such table")
    bare.config.has("c", state=STOPPED)
    said = await told(bare, "PATCH", "?dry_run=true", json=ONE_SOURCE)
    assert any(note.endswith("and failed: no such table") for note in said["notes"])


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (effect(100, 5, repeated_records=95, skipped_records=0), "repeats at most 95 records"),
        (effect(5, 100, repeated_records=0, skipped_records=95), "skips at most 95 records"),
        (effect(5, 5, repeated_records=0, skipped_records=0), "repeats and skips nothing"),
        (effect(5, None), "what is repeated or skipped cannot be told"),
        (
            effect(5, 500, repeated_records=5, skipped_records=0, out_of_range=True),
            "holds offsets 0 to 100, not this one: begins where auto.offset.reset says, repeats at most 5"
            " records",
        ),
        (
            pb.SinkEffect(move=pb.SinkMove(topic="t", partition=0, after=5), out_of_range=True),
            "there is no such partition",
        ),
    ],
)
async def test_a_dry_run_of_a_sink_counts_records(
    bare: World, worker: Worker, found: pb.SinkEffect, text: str
) -> None:
    _, executor = worker
    bare.config.has("c", {**SINK, "consumer.override.group.id": "g"}, state=STOPPED)
    bare.offset.groups["g"] = {("t", 0): 100}
    bare.offset.effects = [found]

    said = await told(bare, "PATCH", "?dry_run=TRUE", json=ONE_SINK)

    [moved] = said["offsets"]
    assert moved["partition"] == {"kafka_topic": "t", "kafka_partition": 0}
    assert moved["effect"]["text"] == text
    assert any("at most" in note for note in said["notes"])
    [asked] = bare.offset.asked
    assert asked.group_id == "g"
    assert list(asked.offsets) == [types_pb2.TopicPartitionOffset(topic="t", partition=0, offset=5)]
    assert bare.offset.groups["g"] == {("t", 0): 100}
    assert executor.altered == []


async def test_a_dry_run_of_a_reset_forgets_nothing(bare: World, worker: Worker) -> None:
    bare.config.has("c", state=STOPPED)
    bare.offset.source["c"] = {b'{"f":1}': b'{"p":1}'}
    said = await told(bare, "DELETE", "?dry_run=true")
    assert [(moved["before"], moved["after"]) for moved in said["offsets"]] == [({"p": 1}, None)]
    assert bare.offset.source["c"]

    bare.config.has("c", SINK, state=STOPPED)
    bare.offset.effects = [effect(5, None, repeated_records=5, skipped_records=0)]
    said = await told(bare, "DELETE", "?dry_run=true")
    assert said["offsets"][0]["effect"]["text"] == "repeats at most 5 records"
    assert bare.offset.asked[0].reset


async def test_a_connector_that_runs_may_be_asked_and_is_told_to_be_stopped(
    bare: World, worker: Worker
) -> None:
    bare.config.has("c", SINK)
    bare.offset.effects = [effect(5, 0, repeated_records=5, skipped_records=0)]
    for method, query, given in (
        ("PATCH", "?dry_run=true", {"json": ONE_SINK}),
        ("PATCH", "?dry_run=true&rewind=2h", {}),
        ("DELETE", "?dry_run=true", {}),
    ):
        said = await told(bare, method, query, **given)
        assert "PUT request to /connectors/c/stop" in said["notes"][0]
    assert (await refused(bare, "PATCH", "?rewind=2h"))[0] == 400


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        ({"offsets": []}, 400, "Partitions / offsets need to be provided"),
        ({"key": []}, 500, "Unrecognized field"),
        ({"offsets": [{"partition": None}]}, 400, "The partition for a source connector offset cannot be"),
        (
            {"offsets": [{"partition": {"f": 1}, "offset": {"a": {}}}]},
            400,
            "Offsets may only contain primitive types as values, but field 'a' contains MAP",
        ),
        (
            {"offsets": [{"partition": {"f": []}, "offset": None}]},
            400,
            "Offsets may only contain primitive types as values, but field 'f' contains ARRAY",
        ),
    ],
)
async def test_a_dry_run_refuses_what_the_change_would_refuse(
    bare: World, worker: Worker, body: Any, status: int, text: str
) -> None:
    bare.config.has("c", state=STOPPED)
    found = await refused(bare, "PATCH", "?dry_run=true", json=body)
    assert found[0] == status
    assert found[1].startswith(text)


async def test_a_dry_run_of_an_unknown_connector_is_not_found(cluster: World) -> None:
    assert (await refused(cluster, "PATCH", "?dry_run=true", json=ONE_SINK))[0] == 404
    assert (await refused(cluster, "DELETE", "?dry_run=true"))[0] == 404


@pytest.mark.parametrize(
    ("method", "query", "text"),
    [
        ("PATCH", "?dry_run=yes", "dry_run is 'yes': write dry_run=true"),
        ("DELETE", "?dry_run=", "dry_run is ''"),
        ("DELETE", "?dryRun=true", "There is no query parameter 'dryRun': write dry_run"),
        ("PATCH", "?dry-run=true", "There is no query parameter 'dry-run': write dry_run"),
        ("PATCH", "?Rewind=2h", "There is no query parameter 'Rewind': write rewind"),
        ("DELETE", "?rewind=2h", "This request takes no query parameter 'rewind'"),
        ("PATCH", "?to=2026-11-20T10:00Z", "Both a body and a time are given"),
        ("PATCH", "?to=2026-11-20T10:00Z&rewind=2h", "Both to and rewind are given"),
        ("PATCH", "?to=2026-11-20T10:00", "'2026-11-20T10:00' does not say in which zone"),
        ("PATCH", "?rewind=2", "'2' is no duration above zero"),
    ],
)
async def test_a_query_that_is_almost_right_changes_nothing(
    bare: World, worker: Worker, method: str, query: str, text: str
) -> None:
    bare.config.has("c", state=STOPPED)
    bare.offset.source["c"] = {b'{"f":1}': b'{"p":1}'}
    body = {"json": ONE_SOURCE} if method == "PATCH" else {}
    status, message = await refused(bare, method, query, **body)
    assert (status, message.startswith(text)) == (400, True), message
    assert bare.offset.source["c"] == {b'{"f":1}': b'{"p":1}'}


async def test_other_parameters_are_ignored_as_kafka_connect_ignores_them(
    bare: World, worker: Worker
) -> None:
    bare.config.has("c", state=STOPPED)
    assert set(await told(bare, "PATCH", "?forward=false&x=1", json=ONE_SOURCE)) == {"message"}
    assert set(await told(bare, "DELETE", "?dry_run=false")) == {"message"}


async def test_a_sink_is_moved_to_a_time(bare: World, worker: Worker) -> None:
    _, executor = worker
    bare.config.has("c", SINK, state=STOPPED)
    bare.offset.groups["connect-c"] = {("t", 0): 50, ("t", 1): 50, ("t", 2): 100}
    bare.offset.effects = [
        effect(50, 20, repeated_records=30, skipped_records=0),
        effect(50, 0, 1, repeated_records=50, skipped_records=0, nothing_older=True),
        effect(100, 100, 2, repeated_records=0, skipped_records=0, nothing_since=True),
    ]

    said = await told(bare, "PATCH", "?to=2026-11-20T11:00%2B01:00")

    assert bare.offset.asked[0].time == 1_795_168_800_000
    assert not bare.offset.asked[0].only_back
    assert (said["dry_run"], said["time"]) == (False, "2026-11-20T10:00:00.000Z")
    assert said["message"].startswith("The Connect framework-managed offsets for this connector have been")
    assert [moved["effect"]["text"] for moved in said["offsets"]] == [
        "repeats at most 30 records",
        "to the beginning, since nothing older is there: repeats at most 50 records",
        "to the end, since nothing is as new: repeats and skips nothing",
    ]
    assert bare.offset.groups["connect-c"] == {("t", 0): 20, ("t", 1): 0, ("t", 2): 100}
    assert len(executor.altered[0].sink_offsets) == 2


async def test_to_rewind_never_moves_forward(bare: World, worker: Worker) -> None:
    bare.config.has("c", SINK, state=STOPPED)
    bare.offset.effects = [effect(50, 50, repeated_records=0, skipped_records=0)]
    before = time.time()
    said = await told(bare, "PATCH", "?rewind=1d12h")
    [asked] = bare.offset.asked
    assert asked.only_back
    assert before - 36 * 3600 - 1 <= asked.time / 1000 <= time.time() - 36 * 3600
    assert said["message"] == "Nothing was changed: every partition is where it would go"
    assert said["offsets"][0]["effect"]["text"] == "stays: it is not beyond that time"
    assert bare.offset.groups == {}
    assert bare.offset.changes == {}


async def test_a_group_without_positions_cannot_be_moved_to_a_time(bare: World, worker: Worker) -> None:
    bare.config.has("c", SINK, state=STOPPED)
    status, message = await refused(bare, "PATCH", "?rewind=2h")
    assert (status, "consumer group connect-c has none" in message) == (400, True)


async def test_a_source_is_moved_to_a_time_if_it_knows_how(bare: World, worker: Worker) -> None:
    _, executor = worker
    bare.config.has("c", state=STOPPED)
    bare.offset.source["c"] = {b'{"f":1}': b'{"p":9}', b'{"f":2}': b'{"p":9}'}
    status, message = await refused(bare, "PATCH", "?rewind=2h&dry_run=true")
    assert (status, "cannot find its offsets by time" in message) == (400, True)

    executor.finds = [
        types_pb2.SourceOffset(partition=b'{"f":1}', offset=b'{"p":4}'),
        types_pb2.SourceOffset(partition=b'{"f":2}', offset=b'{"p":9}'),
    ]
    said = await told(bare, "PATCH", "?to=2026-11-20T10:00Z")
    assert executor.asked_times[-1] == 1_795_168_800_000
    assert [moved["after"] for moved in said["offsets"]] == [{"p": 4}, {"p": 9}]
    assert bare.offset.source["c"] == {b'{"f":1}': b'{"p":4}', b'{"f":2}': b'{"p":9}'}
    assert len(executor.altered[0].source_offsets) == 1


@pytest.mark.parametrize("key", [{"a": "x", "b": 1}, {"b": 1, "a": "x"}])
async def test_the_order_of_a_partitions_keys_is_the_tasks(cluster: World, key: dict[str, object]) -> None:
    cluster.config.has("c", state=STOPPED)
    cluster.offset.source["c"] = {
        b'{"b":1,"a":"x"}': b'{"position":57}',
        b'{"a":"x","b":2}': b'{"position":1}',
    }
    entries = {"offsets": [{"partition": key, "offset": {"position": 9}}]}

    dry = await cluster.rest.patch("/connectors/c/offsets?dry_run=true", json=entries)
    await cluster.rest.patch("/connectors/c/offsets", json=entries)

    assert [each["before"] for each in dry.json()["offsets"]] == [{"position": 57}]
    assert cluster.offset.source["c"] == {
        b'{"b":1,"a":"x"}': b'{"position":9}',
        b'{"a":"x","b":2}': b'{"position":1}',
    }
