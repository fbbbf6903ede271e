"""gRPC's own lines on stderr, which no log level of ours reaches."""

from __future__ import annotations

import subprocess
import sys

STOPPED_UNDER_ITS_CALLERS = """
import asyncio
from copycat_rpc.channel import open_channel
from copycat_rpc.server import RpcServer
from grpc_health.v1 import health_pb2, health_pb2_grpc

async def stop_under_callers():
    server = RpcServer("127.0.0.1:0")
    async with open_channel([await server.start()]) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        calls = [stub.Watch(health_pb2.HealthCheckRequest()) for _ in range(5)]
        for call in calls:
            await anext(aiter(call))
        await server.stop(0)
        while channel.get_state().name == "READY":
            await asyncio.sleep(0.01)

async def main():
    for _ in range(20):  # not every time is the core quick enough to write its line
        await stop_under_callers()

asyncio.run(main())
"""


def test_a_server_that_stops_under_its_callers_makes_grpc_write_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_UNDER_ITS_CALLERS],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "chttp2" not in done.stderr
