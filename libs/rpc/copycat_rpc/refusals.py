"""Errors of one channel's calls, and a line in this process's log where a service does not let it in."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

import grpc
from copycat_connect.errors import CopycatError

from copycat_rpc.errors import from_rpc_error
from copycat_rpc.handshake import objection
from copycat_rpc.secret import RareWarnings
from copycat_rpc.tls import ServicesTls

log = logging.getLogger(__name__)

#: What a call ends with that got no connection.
_NO_CONNECTION: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
#: Between two looks at why there is none.
_LOOK_SECONDS: Final = 30.0


class Refusals:
    """Decodes errors; warns of a service that refuses this process, or that it does not understand."""

    def __init__(self, addresses: Sequence[str], tls: ServicesTls | None) -> None:
        self._addresses = addresses
        self._target = ",".join(addresses)
        self._tls = tls
        self._warnings = RareWarnings()
        self._quiet_until = 0.0
        self._looking: asyncio.Task[None] | None = None

    def error_of(self, failure: grpc.aio.AioRpcError) -> CopycatError:
        """Return the exception that a failed call stands for."""
        if failure.code() is grpc.StatusCode.UNAUTHENTICATED:
            self._warnings.warn("refused", "refused by %s: %s", self._target, failure.details())
        elif failure.code() in _NO_CONNECTION:
            self._look()
        return from_rpc_error(failure, self._target)

    def _look(self) -> None:
        now = asyncio.get_running_loop().time()
        if now >= self._quiet_until:
            self._quiet_until = now + _LOOK_SECONDS
            self._looking = asyncio.create_task(self._warn_of_tls())

    async def _warn_of_tls(self) -> None:
        found = await asyncio.gather(*(objection(address, self._tls) for address in self._addresses))
        for address, reason in zip(self._addresses, found, strict=True):
            if reason:
                self._warnings.warn(reason, "no connection to %s: %s", address, reason)
