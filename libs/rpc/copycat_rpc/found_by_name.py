"""Adds servicers to a server that looks a method up by its name when a call comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import grpc


class FoundByName:
    """Stands for a gRPC server where one is filled, and leaves out that its methods are registered, too.

    For each registered method gRPC's server waits by itself, besides the one wait for calls of all others.
    A server that stops lets go of all its waits at once (grpcio 1.85, `AioServer._server_main_loop`): of
    several, one may just have taken a call, which is then answered by nobody; call and stop last until the
    call's deadline. Of one wait nothing is lost.
    """

    def __init__(self, server: grpc.aio.Server) -> None:
        self._server = server

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler[Any, Any]]) -> None:
        """Let methods be found by their names."""
        self._server.add_generic_rpc_handlers(handlers)

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Any]) -> None:
        """Do nothing: the same methods are found by their names."""
