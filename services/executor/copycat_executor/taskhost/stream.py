"""The control stream from a host to its executor."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Final

import grpc
from copycat.host.v1 import host_service_pb2 as pb
from copycat.host.v1 import host_service_pb2_grpc as rpc
from copycat_rpc.secret import credentials

from copycat_executor.taskhost.spec import HostSpec

_CONNECT_TIMEOUT_SECONDS: Final = 20.0
_HEARTBEAT_INTERVAL_SECONDS: Final = 1.0

#: A silent network must not leave a host working for nobody.
_CHANNEL_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", -1),
    ("grpc.use_local_subchannel_pool", 1),
)


class ControlStream:
    """Sends events and beats, yields commands; `send` may be called from any thread."""

    def __init__(self, spec: HostSpec, clock: Callable[[], float]) -> None:
        self._spec = spec
        self._clock = clock
        self._outgoing: queue.SimpleQueue[pb.AttachRequest | None] = queue.SimpleQueue()
        self._channel = grpc.insecure_channel(spec.executor_address, options=_CHANNEL_OPTIONS)
        self._ended = threading.Event()

    def send(self, event: pb.AttachRequest) -> None:
        """Queue an event; never blocks."""
        self._outgoing.put(event)

    def commands(self) -> Iterator[pb.AttachResponse]:
        """Attach, then yield commands until either side ends the stream.

        Raises:
            grpc.RpcError: The executor is gone, or refuses the host.
        """
        grpc.channel_ready_future(self._channel).result(timeout=_CONNECT_TIMEOUT_SECONDS)
        yield from rpc.HostServiceStub(self._channel).Attach(
            self._events(), metadata=credentials(self._spec.token)
        )

    def finish(self) -> None:
        """End the stream from this side once all queued events are sent."""
        self._outgoing.put(None)

    def close(self) -> None:
        """Let go of the connection."""
        self.finish()
        self._channel.close()

    def _events(self) -> Iterator[pb.AttachRequest]:
        hello = pb.Hello(host_id=self._spec.host_id, pid=os.getpid())
        yield pb.AttachRequest(hello=hello)
        beat_at = self._clock() + _HEARTBEAT_INTERVAL_SECONDS
        while True:
            try:
                event = self._outgoing.get(timeout=max(0.0, beat_at - self._clock()))
            except queue.Empty:
                beat_at = self._clock() + _HEARTBEAT_INTERVAL_SECONDS
                event = pb.AttachRequest(heartbeat=pb.Heartbeat())
            if event is None:
                return
            yield event
