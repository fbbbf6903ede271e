"""The control stream from a host to its executor."""

from __future__ import annotations

import itertools
import logging
import os
import queue
from collections.abc import Callable, Iterator
from math import inf
from typing import Any, Final

import grpc
import grpc._common
from copycat.host.v1 import host_service_pb2 as pb
from copycat.host.v1 import host_service_pb2_grpc as rpc
from copycat_connect.beats import until_beat
from copycat_rpc.secret import credentials

from copycat_executor.taskhost.host_lease import HostLease
from copycat_executor.taskhost.spec import HostSpec

_log = logging.getLogger(__name__)

#: gRPC wakes who waits for a message ten times a second, so that Python's signal handlers get their turn.
_LONGEST_GRPC_WAIT_SECONDS: Final = 5.0

_CONNECT_TIMEOUT_SECONDS: Final = 20.0
#: Between two heartbeats: the long one where so many fit into what is left of the lease. Each wakes two
#: processes, and gRPC's threads in both. There are just two, so that all hosts beat at the same moments.
_HEARTBEATS_OF_A_LEASE: Final = 3
_SHORT_INTERVAL_SECONDS: Final = 0.5
_LONG_INTERVAL_SECONDS: Final = 2.0
#: Until the first lease, which no task starts without: the worker joins once this host is there.
_FIRST_INTERVAL_SECONDS: Final = 0.125
#: A look at the lease at the very moment of its end may come too early.
_NOTICED_AFTER_SECONDS: Final = 0.01

#: Stands in the queue of events for a heartbeat that the executor wants now.
_HEARTBEAT_NOW: Final = pb.AttachRequest(heartbeat=pb.Heartbeat())

#: A silent network must not leave a host working for nobody.
_CHANNEL_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", -1),
    ("grpc.use_local_subchannel_pool", 1),
)


def _open(spec: HostSpec) -> grpc.Channel:
    if spec.tls is None:
        return grpc.insecure_channel(spec.executor_address, options=_CHANNEL_OPTIONS)
    trusted, key, certificate = (
        text.encode() for text in (spec.tls.trusted, spec.tls.key, spec.tls.certificate)
    )
    return grpc.secure_channel(
        spec.executor_address,
        grpc.ssl_channel_credentials(trusted, key, certificate),
        options=(*_CHANNEL_OPTIONS, ("grpc.ssl_target_name_override", spec.tls.server_name)),
    )


def let_waits_be_long() -> None:
    """Let who waits for messages here sleep until one comes: hosts have no signal handlers in Python."""
    grpc._common.MAXIMUM_WAIT_TIMEOUT = _LONGEST_GRPC_WAIT_SECONDS  # noqa: SLF001 - gRPC offers no other way


def until_heartbeat(now: float, left: float) -> float:
    """Return the seconds until the next heartbeat, or the end of a lease that was not renewed.

    Args:
        now: The machine's monotonic clock, seconds.
        left: For how many seconds the lease goes on; infinite before there is one.
    """
    if left == inf:
        return until_beat(now, _FIRST_INTERVAL_SECONDS)
    long = left >= _HEARTBEATS_OF_A_LEASE * _LONG_INTERVAL_SECONDS
    pause = until_beat(now, _LONG_INTERVAL_SECONDS if long else _SHORT_INTERVAL_SECONDS)
    return pause if left < 0 else min(pause, left + _NOTICED_AFTER_SECONDS)


class ControlStream:
    """Sends events and beats, yields commands; `send` may be called from any thread."""

    def __init__(self, spec: HostSpec, clock: Callable[[], float], lease: HostLease) -> None:
        self._spec = spec
        self._clock = clock
        self._lease = lease
        self._call: Any = None
        self._outgoing: queue.SimpleQueue[pb.AttachRequest | None] = queue.SimpleQueue()
        self._channel = _open(spec)
        self._finished = False

    def send(self, event: pb.AttachRequest) -> None:
        """Queue an event; never blocks."""
        self._outgoing.put(event)

    def commands(self) -> Iterator[pb.AttachResponse]:
        """Attach, then yield commands until either side ends the stream.

        Raises:
            grpc.RpcError: The executor is gone, refuses the host, or has not renewed its lease in time.
        """
        grpc.channel_ready_future(self._channel).result(timeout=_CONNECT_TIMEOUT_SECONDS)
        attach = rpc.HostServiceStub(self._channel).Attach
        self._call = attach(self._events(), metadata=credentials(self._spec.token))
        for command in self._call:
            match command.WhichOneof("command"):
                case "lease":
                    self._lease.renewed(command.lease.number, command.lease.remaining_ms / 1000)
                case "heartbeat_wanted":
                    self._outgoing.put(_HEARTBEAT_NOW)
                case _:
                    yield command

    def finish(self) -> None:
        """End the stream from this side once all queued events are sent."""
        self._outgoing.put(None)

    def close(self) -> None:
        """Let go of the connection."""
        self.finish()
        self._channel.close()

    def _events(self) -> Iterator[pb.AttachRequest]:
        hello = pb.Hello(host_id=self._spec.host_id, pid=os.getpid())
        self._lease.asked(0)
        yield pb.AttachRequest(hello=hello)
        for number in itertools.count(1):
            now = self._clock()
            yield from self._events_until(now + until_heartbeat(now, self._lease.left))
            if self._finished:
                return
            self._look_at_lease()
            self._lease.asked(number)
            yield pb.AttachRequest(heartbeat=pb.Heartbeat(number=number))

    def _events_until(self, moment: float) -> Iterator[pb.AttachRequest]:
        """Yield what is queued, until a heartbeat is due or wanted, or the stream is finished."""
        while (left := moment - self._clock()) > 0:
            try:
                event = self._outgoing.get(timeout=left)
            except queue.Empty:
                return
            if event is None:
                self._finished = True
                return
            if event is _HEARTBEAT_NOW:
                return
            yield event

    def _look_at_lease(self) -> None:
        if self._lease.runs_out():
            _log.warning("The executor does not answer; another may soon have the tasks, which end here")
            self._call.cancel()
