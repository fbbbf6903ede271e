"""The status service on a real status topic, and one that its retry settings keep from starting."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from copycat.status.v1 import status_service_pb2 as pb
from copycat.status.v1.status_service_pb2_grpc import StatusServiceStub
from copycat.types.v1 import types_pb2
from copycat_embedded.broker import EmbeddedKafka
from copycat_embedded.ports import free_ports
from copycat_rpc.channel import open_channel
from copycat_status.main import serve
from copycat_testkit.kafka import consume_all, unique

SINCE_MS = int(time.time() * 1000)
RUNNING = pb.Status(
    state=types_pb2.STATE_RUNNING,
    worker_id="127.0.0.1:18083",
    generation=22,
    version="4.3.1",
    since_ms=SINCE_MS,
)
WATCH = pb.WatchStatusesRequest()
OUTAGE_SECONDS = 120.0


def settings(kafka: str) -> dict[str, str]:
    group = unique("cluster")
    return {
        "bootstrap.servers": kafka,
        "group.id": group,
        "status.listen": "127.0.0.1:0",
        "status.storage.topic": f"{group}-status",
        "status.storage.replication.factor": "1",
    }


@asynccontextmanager
async def running(properties: dict[str, str]) -> AsyncIterator[Any]:
    stop, bound = asyncio.Event(), asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(properties, stop, bound.set_result))
    await asyncio.wait((serving, bound), return_when=asyncio.FIRST_COMPLETED, timeout=60)
    if serving.done():
        serving.result()
    try:
        async with open_channel([bound.result()]) as channel:
            yield StatusServiceStub(channel)
    finally:
        stop.set()
        await serving


def report(connector: str, task: int | None = None, status: pb.Status = RUNNING) -> pb.ReportStatusesRequest:
    instance = pb.InstanceStatus(connector=connector, task=task, status=status)
    return pb.ReportStatusesRequest(statuses=[instance])


@pytest.mark.long
async def test_statuses_and_topics_are_kafka_connects_own_bytes_in_its_partitions(kafka: str) -> None:
    properties = settings(kafka)
    async with running(properties) as stub:
        await stub.ReportStatuses(report("probe-file"))
        await stub.ReportStatuses(report("probe-file", 0))
        await stub.ReportTopics(
            pb.ReportTopicsRequest(
                connector="probe-file", topics=["probe-out"], discover_timestamp_ms=1795269884473
            )
        )
        await stub.ForgetStatuses(pb.ForgetStatusesRequest(connector="probe-file", tasks=[0]))

    messages = consume_all(kafka, properties["status.storage.topic"])

    value = (
        b'{"state":"RUNNING","trace":null,"worker_id":"127.0.0.1:18083","generation":22,"version":"4.3.1"}'
    )
    topic = (
        b'{"topic":{"name":"probe-out","connector":"probe-file","task":0,"discoverTimestamp":1795269884473}}'
    )
    # The partitions in which Apache Kafka Connect 4.3.1 left the same keys.
    assert sorted((m.partition(), m.key(), m.value() or b"") for m in messages) == [
        (0, b"status-connector-probe-file", value),
        (2, b"status-topic-probe-out:connector-probe-file", topic),
        (3, b"status-task-probe-file-0", b""),
        (3, b"status-task-probe-file-0", value),
    ]


@pytest.mark.long
async def test_a_restarted_service_knows_what_it_knew(kafka: str) -> None:
    properties = settings(kafka)
    async with running(properties) as stub:
        for number in range(20):
            await stub.ReportStatuses(report(f"c{number}"))
            await stub.ReportStatuses(report(f"c{number}", 0))
        await stub.ForgetStatuses(pb.ForgetStatusesRequest(connector="c0"))
        await stub.ReportStatuses(report("c0"))
        await stub.ReportStatuses(report("c0", 0))
        before = await stub.ListConnectorStatuses(pb.ListConnectorStatusesRequest())

    async with running(properties) as stub:
        after = await stub.ListConnectorStatuses(pb.ListConnectorStatusesRequest())

    assert after == before
    assert len(after.statuses) == 20
    assert all(dict(found.tasks) == {0: RUNNING} for found in after.statuses)


@pytest.mark.long
async def test_a_revision_of_many_partitions_can_be_waited_for(kafka: str) -> None:
    async with running(settings(kafka)) as stub:
        instances = [pb.InstanceStatus(connector=f"c{n}", status=RUNNING) for n in range(50)]
        answer = await stub.ReportStatuses(pb.ReportStatusesRequest(statuses=instances))
        found = await stub.GetConnectorStatus(
            pb.GetConnectorStatusRequest(connector="c49", min_revision=answer.revision)
        )

    assert len(answer.revision.next) == 5
    assert found.status.status == RUNNING


@pytest.mark.long
@pytest.mark.timeout(300)
async def test_a_status_reported_during_an_outage_is_written_when_the_broker_is_back(tmp_path: Path) -> None:
    broker = EmbeddedKafka(tmp_path / "kafka", free_ports(1)[0])
    properties = settings(await asyncio.to_thread(broker.start))
    failed = pb.Status(state=types_pb2.STATE_FAILED, worker_id="h:1", generation=23, since_ms=SINCE_MS)
    try:
        async with running(properties) as stub, aclosing(aiter(stub.WatchStatuses(WATCH))) as watch:
            await stub.ReportStatuses(report("orders"))
            await asyncio.to_thread(broker.kill)
            during = asyncio.create_task(say(stub, report("orders", status=failed)))
            await asyncio.to_thread(broker.start)
            await during

            async with asyncio.timeout(OUTAGE_SECONDS):
                while (await anext(watch)).status.status != failed:
                    pass
    finally:
        await asyncio.to_thread(broker.stop)


async def say(stub: Any, request: pb.ReportStatusesRequest) -> None:
    await stub.ReportStatuses(request, timeout=OUTAGE_SECONDS)


RETRY = "status.storage.retry."


@pytest.mark.row("KRETRY-06", "KRETRY-T07")
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"initial.backoff.ms": "10001"},
            (f"{RETRY}initial.backoff.ms=10001", f"{RETRY}max.backoff.ms=10000"),
        ),
        ({"jitter.factor": "1.1"}, (f"{RETRY}jitter.factor", "1.1")),
        ({"jitter.factor": "-0.1"}, (f"{RETRY}jitter.factor", "-0.1")),
    ],
    ids=["first wait beyond the longest", "too much jitter", "negative jitter"],
)
def test_a_service_does_not_start_with_settings_out_of_range(
    tmp_path: Path, settings: dict[str, str], said: tuple[str, ...]
) -> None:
    file = tmp_path / "worker.properties"
    lines = [f"{RETRY}{key}={value}" for key, value in settings.items()]
    file.write_text("\n".join(["storage.backend=memory", "status.listen=127.0.0.1:0", *lines]))

    ended = subprocess.run(
        [sys.executable, "-m", "copycat_status", str(file)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode != 0
    for each in said:
        assert each in ended.stderr
