"""The config service in this process, on a topic of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceStub
from copycat_config.main import serve
from copycat_rpc.channel import open_channel
from copycat_rpc.messages import config_to_proto
from copycat_testkit.kafka import consume_all, unique


def settings(kafka: str) -> dict[str, str]:
    group = unique("cluster")
    return {
        "bootstrap.servers": kafka,
        "group.id": group,
        "config.listen": "127.0.0.1:0",
        "config.storage.topic": f"{group}-configs",
        "config.storage.replication.factor": "1",
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
            yield ConfigServiceStub(channel)
    finally:
        stop.set()
        await serving


def records(kafka: str, topic: str) -> list[tuple[str, str | None]]:
    found = []
    for message in consume_all(kafka, topic):
        key, value = message.key(), message.value()
        found.append((bytes(key or b"").decode(), None if value is None else bytes(value).decode()))
    return found


async def publish(stub: Any, size: int, **config: str) -> None:
    """Give the connector a new task set of this size."""
    message = config_to_proto({"connector.class": "S", "tasks.max": str(size), **config})
    await stub.PutConnector(pb.PutConnectorRequest(name="orders", config=message))
    tasks = [config_to_proto({"task": str(number)}) for number in range(size)]
    await stub.PutTaskConfigs(
        pb.PutTaskConfigsRequest(connector="orders", tasks=tasks, applied_config=message)
    )
