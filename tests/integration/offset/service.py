"""The offset service as it runs, in the process of the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceStub
from copycat_offset.main import serve
from copycat_rpc.channel import open_channel

if TYPE_CHECKING:
    from copycat.offset.v1.offset_service_pb2_grpc import OffsetServiceAsyncStub


def properties_of(kafka: str, group: str) -> dict[str, str]:
    """Return the properties of a worker."""
    return {
        "bootstrap.servers": kafka,
        "group.id": group,
        "offset.listen": "127.0.0.1:0",
        "offset.storage.topic": f"{group}-offsets",
        "offset.storage.replication.factor": "1",
        "offset.storage.partitions": "5",
    }


@asynccontextmanager
async def running(properties: dict[str, str]) -> AsyncIterator[OffsetServiceAsyncStub]:
    """Run the service."""
    stop, bound = asyncio.Event(), asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(properties, stop, bound.set_result))
    await asyncio.wait((serving, bound), return_when=asyncio.FIRST_COMPLETED, timeout=60)
    if serving.done():
        serving.result()
    async with open_channel([bound.result()]) as channel:
        yield OffsetServiceStub(channel)
    stop.set()
    await serving
