"""The other services, as this executor calls them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from copycat.config.v1 import config_service_pb2_grpc
from copycat.offset.v1 import offset_service_pb2_grpc
from copycat.scheduler.v1 import scheduler_service_pb2_grpc
from copycat.status.v1 import status_service_pb2_grpc
from copycat_rpc.channel import open_channel


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where each service answers, `host:port` each."""

    config: Sequence[str]
    offset: Sequence[str]
    status: Sequence[str]
    scheduler: Sequence[str]


@dataclass(frozen=True, slots=True)
class Services:
    """A stub for each service; generated stubs have no asynchronous types."""

    config: Any
    offset: Any
    status: Any
    scheduler: Any


@asynccontextmanager
async def connected(addresses: Addresses, *, secret: str = "") -> AsyncIterator[Services]:
    """Open a channel to every service, with the cluster's secret; nobody need be there yet."""
    each = (addresses.config, addresses.offset, addresses.status, addresses.scheduler)
    config, offset, status, scheduler = (open_channel(found, secret=secret) for found in each)
    async with config, offset, status, scheduler:
        yield Services(
            config=config_service_pb2_grpc.ConfigServiceStub(config),
            offset=offset_service_pb2_grpc.OffsetServiceStub(offset),
            status=status_service_pb2_grpc.StatusServiceStub(status),
            scheduler=scheduler_service_pb2_grpc.SchedulerServiceStub(scheduler),
        )
