"""PATCH and DELETE /connectors/{name}/offsets: what changes, checks in their order, texts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb2
from copycat.types.v1 import types_pb2
from copycat_connect.errors import ConnectError, CopycatError, ErrorCode, OffsetsUnmodifiableError

from tests.contract.gateway.fake_executor import FakeExecutor
from tests.contract.gateway.fake_services import GroupActiveError
from tests.contract.gateway.world import World

STOPPED = types_pb2.TARGET_STATE_STOPPED
SINK = {"connector.class": "FileStreamSink", "topics": "t"}
NOT_STOPPED = (
    "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the"
    " specified connector by issuing a 'PUT' request to the '/connectors/c/stop' endpoint"
)
FRAMEWORK = (
    "The Connect framework-managed offsets for this connector have been {0} successfully. However, if this"
    " connector manages offsets externally, they will need to be manually {0} in the system that the"
    " connector uses."
)
ONE_SINK = {
    "offsets": [{"partition": {"kafka_topic": "t", "kafka_partition": 0}, "offset": {"kafka_offset": 5}}]
}
ONE_SOURCE = {"offsets": [{"partition": {"filename": "/in"}, "offset": {"position": 5}}]}
UNREADABLE = [
    (b"[]", "Cannot deserialize value"),
    (b'{"key":[]}', 'Unrecognized field "key"'),
    (b'{"offsets":{}}', "Cannot deserialize value"),
    (b'{"offsets":[123]}', "Cannot construct instance"),
    (b'{"offsets":[null]}', "Cannot construct instance"),
    (b'{"offsets":[{"key":"val"}]}', 'Unrecognized field "key"'),
    (b'{"offsets":[{"partition":[]]}]}', "The request body is not valid JSON"),
    (b'{"offsets":[{"partition":[]}]}', "Cannot deserialize value"),
    (b'{"offsets":[{"partition":{"a":1e999}}]}', "The request body is not valid JSON"),
    (b"", "The request has no body"),
]
WRONG_ENTRIES: list[tuple[Any, Any, str]] = [
    (None, None, "The partition for a sink connector offset cannot be null or missing"),
    (
        {"kafka_topic": "t"},
        None,
        "The partition for a sink connector offset must contain the keys 'kafka_topic' and 'kafka_partition'",
    ),
    (
        {"kafka_topic": None, "kafka_partition": 0},
        None,
        "Kafka topic names must be valid strings and may not be null",
    ),
    (
        {"kafka_topic": "t", "kafka_partition": None},
        None,
        "Kafka partitions must be valid numbers and may not be null",
    ),
    (
        {"kafka_topic": "t", "kafka_partition": "x"},
        None,
        "Failed to parse the following Kafka partition value in the provided offsets: 'x'."
        " Partition values for sink connectors need to be integers.",
    ),
    (
        {"kafka_topic": "t", "kafka_partition": 0},
        {},
        "The offset for a sink connector should either be null or contain the key 'kafka_offset'",
    ),
    (
        {"kafka_topic": "t", "kafka_partition": 0},
        {"kafka_offset": 1.5},
        "Failed to parse the following Kafka offset value in the provided offsets: '1.5'."
        " Offset values for sink connectors need to be integers.",
    ),
    (
        {"kafka_topic": "t", "kafka_partition": 0},
        {"kafka_offset": -1},
        "Kafka offsets may not be negative, got -1 for partition t-0",
    ),
    (
        {"kafka_topic": "", "kafka_partition": 0},
        {"kafka_offset": 5},
        "Kafka topic names may not be empty: write the topic's name as 'kafka_topic'",
    ),
    (
        {"kafka_topic": "", "kafka_partition": 0},
        None,
        "Kafka topic names may not be empty: write the topic's name as 'kafka_topic'",
    ),
    (
        {"kafka_topic": "t", "kafka_partition": "-1"},
        {"kafka_offset": 5},
        "Kafka partitions may not be negative, got -1 of topic t",
    ),
    (
        {"kafka_topic": "t", "kafka_partition": 1e10},
        {"kafka_offset": 5},
        "Failed to parse the following Kafka partition value in the provided offsets: '1.0E10'."
        " Partition values for sink connectors need to be integers.",
    ),
    (
        {"kafka_topic": "t", "kafka_partition": "2147483648"},
        {"kafka_offset": 5},
        "Failed to parse the following Kafka partition value in the provided offsets: '2147483648'."
        " Partition values for sink connectors need to be integers.",
    ),
    (
        {"kafka_topic": "t", "kafka_partition": "9" * 5_000},
        {"kafka_offset": 5},
        f"Failed to parse the following Kafka partition value in the provided offsets: '{'9' * 5_000}'."
        " Partition values for sink connectors need to be integers.",
    ),
    (
        {"kafka_topic": "t", "kafka_partition": "0"},
        {"kafka_offset": " 5"},
        "Failed to parse the following Kafka offset value in the provided offsets: ' 5'."
        " Offset values for sink connectors need to be integers.",
    ),
    (
        {"kafka_topic": "t", "kafka_partition": "0"},
        {"kafka_offset": [1, {"a": None}]},
        "Failed to parse the following Kafka offset value in the provided offsets: '[1, {a=null}]'."
        " Offset values for sink connectors need to be integers.",
    ),
]


class HangingError(CopycatError):
    code = ErrorCode("plugin.hangs", grpc="DEADLINE_EXCEEDED", http=500)


@pytest.fixture
def executor(worker: tuple[str, FakeExecutor]) -> FakeExecutor:
    return worker[1]


@pytest.mark.row("K875-06")
async def test_offsets_shown_may_be_put_back(cluster: World) -> None:
    cluster.config.has("c", state=STOPPED)
    cluster.offset.source["c"] = {b'{"b":1,"a":"x"}': b'{"position":57}'}
    before = await cluster.rest.get("/connectors/c/offsets")

    reply = await cluster.rest.patch("/connectors/c/offsets", json=before.json())

    assert reply.json() == {"message": FRAMEWORK.format("altered")}
    assert (await cluster.rest.get("/connectors/c/offsets")).content == before.content


@pytest.mark.row("K875-07", "K875-08", "K875-12", "K875-T03")
async def test_altering_a_source_keeps_what_is_not_listed(bare: World, executor: FakeExecutor) -> None:
    bare.config.has("c", state=STOPPED)
    bare.offset.source["c"] = {b'{"f":1}': b'{"p":1}', b'{"f":2}': b'{"p":2}', b'{"f":3}': b'{"p":3}'}
    executor.handles = True
    entries = [{"partition": {"f": 1}, "offset": {"p": 9}}, {"partition": {"f": 2}, "offset": None}]

    reply = await bare.rest.patch("/connectors/c/offsets", json={"offsets": entries})

    assert reply.content == b'{"message":"The offsets for this connector have been altered successfully"}'
    assert bare.offset.source["c"] == {b'{"f":1}': b'{"p":9}', b'{"f":3}': b'{"p":3}'}
    assert [entry.HasField("offset") for entry in executor.altered[0].source_offsets] == [True, False]


@pytest.mark.row("K875-07", "K875-08", "K875-13", "K875-15", "K875-T03")
async def test_altering_a_sink_sets_and_forgets_positions(bare: World, executor: FakeExecutor) -> None:
    bare.config.has("c", SINK, state=STOPPED)
    bare.offset.groups["connect-c"] = {("t", 0): 1, ("t", 1): 1, ("t", 2): 1}
    entries = [
        {"partition": {"kafka_topic": "t", "kafka_partition": "0"}, "offset": {"kafka_offset": "10"}},
        {"partition": {"kafka_topic": "t", "kafka_partition": 1}, "offset": None},
    ]

    reply = await bare.rest.patch("/connectors/c/offsets", json={"offsets": entries})

    assert reply.json() == {"message": FRAMEWORK.format("altered")}
    assert bare.offset.groups["connect-c"] == {("t", 0): 10, ("t", 2): 1}
    assert [entry.offset for entry in executor.altered[0].sink_offsets] == [10, -1]


async def test_every_call_about_a_sinks_group_carries_its_client_overrides_as_written(
    cluster: World,
) -> None:
    overrides = {
        "consumer.override.bootstrap.servers": "${file:brokers:other}",
        "consumer.override.group.id": "g",
        "admin.override.request.timeout.ms": "500",
    }
    cluster.config.has("c", {**SINK, **overrides, "producer.override.acks": "1"}, state=STOPPED)

    async with asyncio.timeout(60):  # a busy worker may not have said in time which plugins it has
        while (await cluster.rest.get("/connectors/c/offsets")).status_code != 200:
            pass
    cluster.offset.overrides.clear()
    for method in ("GET", "PATCH", "DELETE"):
        body = ONE_SINK if method == "PATCH" else None
        reply = await cluster.rest.request(method, "/connectors/c/offsets", json=body)
        assert reply.status_code == 200, reply.text

    # A change is remembered with where the positions were before it, so they are read first.
    assert cluster.offset.overrides == [overrides] * 5


@pytest.mark.row("K875-23")
async def test_a_reset_asks_the_connector_about_every_known_partition_without_an_offset(
    bare: World, executor: FakeExecutor
) -> None:
    sources, sinks = {b'{"f":%d}' % n: b'{"p":1}' for n in range(50)}, {("t", n): 7 for n in range(20)}
    bare.offset.source["c"], bare.offset.groups["connect-d"] = dict(sources), dict(sinks)
    for name, config in (("c", None), ("d", SINK)):
        bare.config.has(name, config, state=STOPPED)
        assert (await bare.rest.delete(f"/connectors/{name}/offsets")).json()["message"]
    source, sink = executor.altered
    asked = {each.partition: each.HasField("offset") for each in source.source_offsets}
    assert asked == dict.fromkeys(sources, False)
    positions = {(each.topic, each.partition): each.offset for each in sink.sink_offsets}
    assert positions == dict.fromkeys(sinks, -1)


@pytest.mark.row("K875-21", "K875-22", "K875-T06")
async def test_a_reset_forgets_everything_and_may_be_repeated(bare: World, executor: FakeExecutor) -> None:
    bare.config.has("c", state=STOPPED)
    bare.config.has("d", SINK, state=STOPPED)
    bare.offset.source["c"] = {b'{"f":1}': b'{"p":1}'}
    bare.offset.groups["connect-d"] = {("t", 0): 1}

    for name in ("c", "c", "d", "d"):
        reply = await bare.rest.delete(f"/connectors/{name}/offsets")
        assert (reply.status_code, reply.json()) == (200, {"message": FRAMEWORK.format("reset")})

    assert (bare.offset.source["c"], bare.offset.groups) == ({}, {})
    assert len(executor.altered) == 4


@pytest.mark.parametrize("state", [types_pb2.TARGET_STATE_STARTED, types_pb2.TARGET_STATE_PAUSED])
@pytest.mark.row("K875-09", "K875-21", "K875-T07")
async def test_offsets_change_only_while_stopped(cluster: World, state: int) -> None:
    cluster.config.has("c", state=state)

    for reply in (
        await cluster.rest.patch("/connectors/c/offsets", json=ONE_SOURCE),
        await cluster.rest.delete("/connectors/c/offsets"),
    ):
        assert (reply.status_code, reply.json()["message"]) == (400, NOT_STOPPED)


@pytest.mark.row("K875-09")
async def test_offsets_change_only_without_tasks(cluster: World) -> None:
    cluster.config.has("c", tasks=({"a": "b"},), state=STOPPED)

    reply = await cluster.rest.delete("/connectors/c/offsets")

    assert (reply.status_code, reply.json()["message"]) == (400, NOT_STOPPED)


async def test_an_empty_request_is_refused_before_anything_else(cluster: World) -> None:
    bodies: list[dict[str, Any]] = [{}, {"offsets": []}, {"offsets": None}]
    for body in bodies:
        reply = await cluster.rest.patch("/connectors/nope/offsets", json=body)
        assert reply.content == (
            b'{"error_code":400,"message":"Partitions / offsets need to be provided for an alter'
            b' offsets request"}'
        )


@pytest.mark.row("K875-09")
async def test_altering_an_unknown_connector_is_not_found(cluster: World) -> None:
    reply = await cluster.rest.patch("/connectors/nope/offsets", json=ONE_SOURCE)

    assert (reply.status_code, reply.json()["message"]) == (404, "Connector nope not found")


async def test_a_body_that_cannot_be_read_fails(cluster: World) -> None:
    for body, start in UNREADABLE:
        reply = await cluster.rest.patch(
            "/connectors/c/offsets", content=body, headers={"content-type": "application/json"}
        )

        assert reply.status_code == 500, body
        assert reply.json()["message"].startswith(start), body


@pytest.mark.row("K875-15")
async def test_sink_offsets_are_checked_entry_by_entry(cluster: World) -> None:
    cluster.config.has("c", SINK, state=STOPPED)

    for partition, offset, text in WRONG_ENTRIES:
        reply = await cluster.rest.patch(
            "/connectors/c/offsets", json={"offsets": [{"partition": partition, "offset": offset}]}
        )

        assert (reply.status_code, reply.json()["message"]) == (400, text)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            OffsetsUnmodifiableError("x"),
            "Failed to modify offsets for connector c because it doesn't support external modification of"
            " offsets",
        ),
        (HangingError("x"), "Timed out while calling the 'alterOffsets' method for sink connector c"),
        (ValueError("x"), "Failed to modify offsets for sink connector c"),
        (ConnectError("position must not be negative"), "position must not be negative"),
    ],
)
@pytest.mark.row("K875-11", "K875-14", "K875-21", "K875-T03", "K875-T06")
async def test_a_connector_that_refuses_keeps_its_offsets(
    bare: World, executor: FakeExecutor, error: Exception, text: str
) -> None:
    bare.config.has("c", SINK, state=STOPPED)
    bare.offset.groups["connect-c"] = {("t", 0): 1}
    executor.fails = error

    for reply in (
        await bare.rest.patch("/connectors/c/offsets", json=ONE_SINK),
        await bare.rest.delete("/connectors/c/offsets"),
    ):
        assert (reply.status_code, reply.json()["message"]) == (500, text)
    assert bare.offset.groups["connect-c"] == {("t", 0): 1}


@pytest.mark.row("K875-28")
async def test_a_group_with_members_names_the_zombies(cluster: World) -> None:
    cluster.config.has("c", SINK, state=STOPPED)
    alter_text = (
        "Failed to alter consumer group offsets for connector c either because its tasks haven't stopped"
        " completely yet or the connector was resumed before the request to alter its offsets could be"
        " successfully completed. If the connector is in a stopped state, this operation can be safely"
        " retried. If it doesn't eventually succeed, the Connect cluster may need to be restarted to get rid"
        " of the zombie sink tasks."
    )
    cluster.offset.fails_writes = GroupActiveError("another text")

    altered = await cluster.rest.patch("/connectors/c/offsets", json=ONE_SINK)
    reset = await cluster.rest.delete("/connectors/c/offsets")

    assert (altered.status_code, altered.json()["message"]) == (500, alter_text)
    assert (reset.status_code, reset.json()["message"]) == (500, alter_text.replace(" alter ", " reset "))


@pytest.mark.parametrize("kind", ["sink", "source"])
@pytest.mark.row("K875-28")
async def test_offsets_change_only_once_the_last_task_has_ended(bare: World, kind: str) -> None:
    await bare.open_gateway(rest_worker_wait_ms="300")
    worker_id, _ = await bare.add_worker()
    config, body = (SINK, ONE_SINK) if kind == "sink" else (None, ONE_SOURCE)
    bare.config.has("c", config, state=STOPPED)
    drains = scheduler_pb2.Held(instance=scheduler_pb2.Instance(connector="c", task=0), generation=1)
    bare.scheduler.workers[worker_id].held.append(drains)

    early = await bare.rest.patch("/connectors/c/offsets", json=body)
    too_early = await bare.rest.delete("/connectors/c/offsets")
    bare.scheduler.on_next_list(lambda: bare.scheduler.workers[worker_id].ClearField("held"))
    late = await bare.rest.patch("/connectors/c/offsets", json=body)

    for reply, verb in ((early, "alter"), (too_early, "reset")):
        assert reply.status_code == 500
        assert reply.json()["message"].startswith(f"Failed to {verb} ")
        assert f"zombie {kind} tasks" in reply.json()["message"]
    assert late.status_code == 200


@pytest.mark.row("K875-14")
async def test_a_failing_offset_service_is_told_in_connects_words(cluster: World) -> None:
    cluster.config.has("c", state=STOPPED)
    cluster.config.has("d", SINK, state=STOPPED)
    cluster.offset.fails = ConnectError("broker away")

    for method, path, body, text in (
        ("PATCH", "/connectors/c/offsets", ONE_SOURCE, "Failed to modify offsets for source connector c"),
        (
            "PATCH",
            "/connectors/d/offsets",
            ONE_SINK,
            "Failed to alter consumer group offsets for connector d",
        ),
        (
            "DELETE",
            "/connectors/d/offsets",
            None,
            "Failed to list offsets prior to resetting offsets for sink connector d",
        ),
    ):
        reply = await cluster.rest.request(method, path, json=body)
        assert (reply.status_code, reply.json()["message"]) == (500, text)


async def test_strictly_offsets_are_managed_by_a_framework_without_a_name(
    bare: World, executor: FakeExecutor
) -> None:
    await bare.open_gateway(kip_strict="true")
    bare.config.has("c", state=STOPPED)

    reply = await bare.rest.delete("/connectors/c/offsets")

    assert executor.altered
    assert reply.json() == {"message": FRAMEWORK.format("reset").replace("Connect framework", "framework")}
