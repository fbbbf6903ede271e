"""Connections with TLS: many at once, and channels whose certificates were replaced."""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

import grpc
import pytest
from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1 import config_service_pb2_grpc as rpc
from copycat_rpc import renewing
from copycat_rpc.channel import open_channel
from copycat_rpc.health import serves
from copycat_rpc.renewing import RenewingChannel
from copycat_rpc.server import RpcServer
from copycat_rpc.tls import services_tls
from copycat_testkit.certificates import Authority
from copycat_testkit.eventually import eventually
from grpc import ChannelConnectivity
from grpc.aio import UsageError

from tests.contract.rpc.test_tls import Files, authority, get, serving

SECONDS: Final = 60
#: A server that gave gRPC its certificate for each had crashed after 84, and nearly always in 3,000.
CONNECTIONS: Final = 3_000
AT_ONCE: Final = 16


def serve(properties: dict[str, str], parent: Connection) -> None:
    """Serve in a process of its own, until the parent says that it is enough."""

    async def until_told() -> None:
        server = RpcServer("127.0.0.1:0", tls=services_tls(properties))
        parent.send(await server.start())
        await server.set_serving(True)
        await asyncio.to_thread(parent.recv)
        await server.stop(0)

    asyncio.run(until_told())


@dataclass
class Served:
    """A service in a process of its own."""

    process: BaseProcess
    host: str
    port: int
    properties: dict[str, str]
    connecting: ssl.SSLContext

    def connect(self, _: int) -> None:
        """Make one connection, and end it."""
        with (
            socket.create_connection((self.host, self.port), SECONDS) as plain,
            self.connecting.wrap_socket(plain, server_hostname=self.host) as encrypted,
        ):
            assert encrypted.version() in {"TLSv1.2", "TLSv1.3"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    ours = Authority(tmp_path, "ours")
    keystore = ours.pem("service")
    properties = {
        "services.ssl.keystore.type": "PEM",
        "services.ssl.keystore.location": str(keystore),
        "services.ssl.truststore.type": "PEM",
        "services.ssl.truststore.location": str(ours.file),
    }
    connecting = ssl.create_default_context(cafile=ours.file)
    connecting.load_cert_chain(keystore)
    connecting.set_alpn_protocols(["h2"])
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(properties, there))
    process.start()
    there.close()
    assert here.poll(SECONDS), "it serves"
    host, _, port = here.recv().rpartition(":")
    yield Served(process, host, int(port), properties, connecting)
    if process.is_alive():
        here.send("enough")
    process.join(SECONDS)
    process.kill()


@pytest.mark.long
async def test_many_connections_at_once_do_not_end_a_service(served: Served) -> None:
    def all_connect() -> None:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            list(threads.map(served.connect, range(CONNECTIONS)))

    await asyncio.to_thread(all_connect)
    assert served.process.is_alive()
    assert await serves(f"{served.host}:{served.port}", SECONDS, tls=services_tls(served.properties))


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


async def test_the_former_channel_is_closed_once_no_call_is_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renewing, "RETIRED_SECONDS", 0.01)
    ours = authority(tmp_path, "ours")
    files = Files(tmp_path, ours)
    async with serving(files.tls()) as (service, address), open_channel([address], tls=files.tls()) as made:
        assert isinstance(made, RenewingChannel)
        former = made.current()
        watch = aiter(rpc.ConfigServiceStub(made).WatchConnectors(pb.WatchConnectorsRequest()))
        assert (await anext(watch)).removed == "first"
        files.show(ours)
        assert await get(made) == "a"
        assert made.current() is not former
        assert made.get_state() is ChannelConnectivity.READY
        assert former.get_state() is ChannelConnectivity.READY, "the watch is on it still"
        service.release.set()
        assert [each.removed async for each in watch] == ["last"]
        await eventually(lambda: _is_closed(former), 60)


async def test_closing_it_ends_what_is_on_the_former_ones(tmp_path: Path) -> None:
    ours = authority(tmp_path, "ours")
    files = Files(tmp_path, ours)
    async with serving(files.tls()) as (_, address):
        made = open_channel([address], tls=files.tls())
        watch = aiter(rpc.ConfigServiceStub(made).WatchConnectors(pb.WatchConnectorsRequest()))
        assert (await anext(watch)).removed == "first"
        files.show(ours)
        assert await get(made) == "a"
        await made.close(None)
        with pytest.raises(asyncio.CancelledError):
            await anext(watch)


def _is_closed(channel: grpc.aio.Channel) -> bool:
    try:
        return channel.get_state() is ChannelConnectivity.SHUTDOWN
    except UsageError:  # says gRPC of a channel that is closed
        return True
