"""A channel whose certificates were replaced: what becomes of the one before."""

from __future__ import annotations

import asyncio
from pathlib import Path

import grpc
import pytest
from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1 import config_service_pb2_grpc as rpc
from copycat_rpc import renewing
from copycat_rpc.channel import open_channel
from copycat_rpc.renewing import RenewingChannel
from copycat_testkit.eventually import eventually
from grpc import ChannelConnectivity
from grpc.aio import UsageError

from tests.contract.rpc.test_tls import Files, authority, get, serving


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
