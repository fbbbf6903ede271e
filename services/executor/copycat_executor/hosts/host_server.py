"""HostService: the control streams of this executor's hosts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Protocol

from copycat.host.v1 import host_service_pb2 as pb
from copycat.host.v1 import host_service_pb2_grpc

from copycat_executor.domain.errors import HostRefusedError
from copycat_executor.hosts.host_pools import HostPools
from copycat_executor.hosts.launched_host import LaunchedHost

SERVICE_NAME = "copycat.host.v1.HostService"


class HostEvents(Protocol):
    """Who hears what hosts say."""

    def state_changed(self, event: pb.TaskStateChanged) -> None:
        """Note that a task changed its state."""

    def taken(self, event: pb.TaskTaken) -> None:
        """Note that a task's order arrived in its host."""

    def acknowledged(self, event: pb.Acknowledged, host: LaunchedHost) -> None:
        """Commit the progress of a task."""

    def topics_seen(self, event: pb.TopicsSeen) -> None:
        """Note topics that a task wrote to or read from (KIP-558)."""

    def made_of(self, event: pb.PluginsInUse) -> None:
        """Note what a task is made of."""

    def measured(self, event: pb.TaskMetrics) -> None:
        """Note what a task measured since its last report."""

    def trouble(self, event: pb.TaskTrouble) -> None:
        """Note what keeps a task from moving, or that nothing does any more."""


class HostQuestions(Protocol):
    """Who answers what tasks ask."""

    def offsets_wanted(self, event: pb.OffsetsWanted, host: LaunchedHost) -> None:
        """A task asks for source offsets."""

    def fence_wanted(self, event: pb.FenceWanted, host: LaunchedHost) -> None:
        """A task asks whether it may begin, all before it being fenced."""

    def query_wanted(self, event: pb.QueryWanted, host: LaunchedHost) -> None:
        """A transformation wants a query prepared or run."""


class HostServer(host_service_pb2_grpc.HostServiceServicer):
    """Serves hosts; each stream is one host's life."""

    def __init__(
        self, hosts: HostPools, events: HostEvents, questions: HostQuestions, remaining: Callable[[], float]
    ) -> None:
        """`remaining` returns for how many seconds this worker's tasks may go on."""
        self._hosts = hosts
        self._events = events
        self._questions = questions
        self._remaining = remaining

    async def Attach(
        self, request_iterator: AsyncIterator[pb.AttachRequest], context: object
    ) -> AsyncIterator[pb.AttachResponse]:
        """Handle a host's events, and send it commands."""
        del context
        first = await anext(aiter(request_iterator), None)
        if first is None or first.WhichOneof("event") != "hello":
            raise HostRefusedError("the first message of the stream is not a Hello")
        host = self._hosts.attach(first.hello)
        assert host.session is not None  # just attached
        self._renew(host, 0)
        reader = asyncio.create_task(self._read(request_iterator, host))
        try:
            async with aclosing(host.session.commands()) as commands:
                async for command in commands:
                    yield command
        finally:
            self._hosts.detached(host)  # before anything is awaited: a call can be cancelled once more
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)

    async def _read(self, requests: AsyncIterator[pb.AttachRequest], host: LaunchedHost) -> None:
        assert host.session is not None  # attached
        loop = asyncio.get_running_loop()
        try:
            async for request in requests:
                host.session.last_heartbeat = loop.time()
                self._take(request, host)
        finally:
            host.session.finish()

    def _take(self, request: pb.AttachRequest, host: LaunchedHost) -> None:
        events = self._events
        match request.WhichOneof("event"):
            case "state_changed":
                events.state_changed(request.state_changed)
            case "taken":
                events.taken(request.taken)
            case "acknowledged":
                events.acknowledged(request.acknowledged, host)
            case "topics_seen":
                events.topics_seen(request.topics_seen)
            case "plugins":
                events.made_of(request.plugins)
            case "metrics":
                events.measured(request.metrics)
            case "trouble":
                events.trouble(request.trouble)
            case _:
                self._answer(request, host)

    def _answer(self, request: pb.AttachRequest, host: LaunchedHost) -> None:
        match request.WhichOneof("event"):
            case "heartbeat":
                self._renew(host, request.heartbeat.number)
            case "offsets_wanted":
                self._questions.offsets_wanted(request.offsets_wanted, host)
            case "fence_wanted":
                self._questions.fence_wanted(request.fence_wanted, host)
            case "query_wanted":
                self._questions.query_wanted(request.query_wanted, host)

    def _renew(self, host: LaunchedHost, number: int) -> None:
        """Let a host go on for as long as this worker may; one that was killed gets no more time."""
        remaining = self._remaining()
        if remaining > 0 and not host.killed:
            host.renew(pb.HostLease(number=number, remaining_ms=int(remaining * 1000)))
