"""A channel for one question, with nothing around it: no deadline, no retry, no secret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import grpc

from copycat_rpc.tls import ServicesTls, channel_credentials


def short_channel(
    address: str, options: Sequence[tuple[str, Any]], tls: ServicesTls | None
) -> grpc.aio.Channel:
    """Open a channel to `host:port`, encrypted where there is `tls`."""
    if tls is None:
        return grpc.aio.insecure_channel(address, options=options)
    known, more = _encrypted(address, tls)
    return grpc.aio.secure_channel(address, known, options=(*options, *more))


def short_blocking_channel(
    address: str, options: Sequence[tuple[str, Any]], tls: ServicesTls | None
) -> grpc.Channel:
    """Open the same for a thread that waits."""
    if tls is None:
        return grpc.insecure_channel(address, options=options)
    known, more = _encrypted(address, tls)
    return grpc.secure_channel(address, known, options=(*options, *more))


def _encrypted(address: str, tls: ServicesTls) -> tuple[grpc.ChannelCredentials, list[tuple[str, Any]]]:
    name = tls.target(address.rpartition(":")[0])
    return channel_credentials(tls.current()), [("grpc.ssl_target_name_override", name)]
