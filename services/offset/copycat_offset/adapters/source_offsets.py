"""Source offsets that are in two topics: the connector's own counts first, the worker's is its copy.

The order of writes is Kafka Connect's. What is forgotten is forgotten in the worker's topic first, or it
would come back from there; then everything is written to the connector's own; then the copy is completed.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Final, TypeAlias

from copycat.offset.v1 import offset_service_pb2 as pb
from copycat_connect.errors import CopycatError
from copycat_eventlog.log import Revision
from copycat_rpc.messages import config_from_proto
from copycat_telemetry.changes import log_change

from copycat_offset.adapters.event_sourced import OffsetEvents
from copycat_offset.domain.commands import AlterSourceOffsets, CommitSourceOffsets
from copycat_offset.domain.decide import check_expected, check_generation, checked, facts
from copycat_offset.domain.homes import OffsetsHome, OffsetsHomes, OwnTopic
from copycat_offset.domain.state import OffsetState
from copycat_offset.domain.views import with_own

log = logging.getLogger(__name__)

Request: TypeAlias = (
    pb.CommitSourceOffsetsRequest
    | pb.AlterSourceOffsetsRequest
    | pb.ReadSourceOffsetsRequest
    | pb.ListSourceOffsetsRequest
)
Change: TypeAlias = CommitSourceOffsets | AlterSourceOffsets
_NOT_COPIED: Final = "source offsets not copied into the worker's topic"


class SourceOffsets:
    """Writes to the topics in which a connector's offsets are, and reads its own."""

    def __init__(self, events: OffsetEvents, homes: OffsetsHomes) -> None:
        """`events` are the worker's topic."""
        self._events = events
        self._homes = homes

    async def own(self, request: Request) -> OffsetState | None:
        """Return what is in a connector's own topic, read to its end; None where it has none."""
        if not request.HasField("store"):
            return None
        home = await self._home(request)
        return None if home.own is None else await home.own.read()

    async def commit(self, request: pb.CommitSourceOffsetsRequest, command: CommitSourceOffsets) -> Revision:
        """Commit what a source task delivered.

        Raises:
            StaleCommitError: A newer assignment of the task exists (I2).
            OffsetsMovedError: Another task has committed what this one did not know.
        """
        if not request.HasField("store"):
            return await self._execute(command)
        home = await self._home(request)
        if request.store.exactly_once:
            # The task wrote them in its transaction. Where that was to the worker's topic, to write them once
            # more might undo its next one.
            if home.own is not None:
                return await self._execute(command)
            check_generation(command.connector, command.task, command.generation, command.newest)
            return await self._read_to_end()
        if home.own is None:
            return await self._execute(command)
        return await self._write_both(command, home.own)

    async def alter(self, request: pb.AlterSourceOffsetsRequest, command: AlterSourceOffsets) -> Revision:
        """Set or forget offsets for a user."""
        if not request.HasField("store"):
            return await self._execute(command)
        home = await self._home(request)
        if request.store.exactly_once:
            return await self._write_at_once(command, home)
        if home.own is None:
            return await self._execute(command)
        return await self._write_both(command, home.own)

    async def _read_to_end(self) -> Revision:
        await self._events.read_to_end()
        return self._events.revision

    async def _home(self, request: Request) -> OffsetsHome:
        store = request.store
        return await self._homes.of(config_from_proto(store.config), exactly_once=store.exactly_once)

    async def _write_both(self, command: Change, own: OwnTopic) -> Revision:
        offsets = checked(command.offsets)
        async with own.turn():
            command = await self._as_expected(command, own)
            # This is also what refuses an older generation (I2), and an instance that does not lead.
            revision = await self._execute(_forgetting(command))
            if offsets:
                await own.write(facts(command.connector, offsets))
            return await self._copy(command, revision)

    async def _as_expected(self, command: Change, own: OwnTopic) -> Change:
        """Return a command whose expectations hold, without them: the worker's topic may know less."""
        if not isinstance(command, CommitSourceOffsets) or not command.expected:
            return command
        state = with_own(self._events.state, await own.read(), command.connector)
        check_expected(command.connector, command.expected, state)
        return replace(command, expected={})

    async def _write_at_once(self, command: AlterSourceOffsets, home: OffsetsHome) -> Revision:
        events = facts(command.connector, checked(command.offsets))
        if home.own is None:
            if events:
                await home.write_at_once(command.connector, events)
            return await self._read_to_end()
        async with home.own.turn():
            revision = await self._execute(_forgetting(command))
            if events:
                await home.write_at_once(command.connector, events)
            return await self._copy(command, revision)

    async def _copy(self, command: Change, revision: Revision) -> Revision:
        """Copy what is not forgotten into the worker's topic: it is a help for later, so it may fail."""
        try:
            return await self._execute(_keeping(command))
        except CopycatError as error:
            log_change(log, _NOT_COPIED, logging.WARNING, connector=command.connector, why=error.message)
            return revision

    async def _execute(self, command: Change) -> Revision:
        return (await self._events.execute(command)).revision


def _forgetting(command: Change) -> Change:
    offsets = checked(command.offsets)
    return replace(command, offsets={each: None for each, offset in offsets.items() if offset is None})


def _keeping(command: Change) -> Change:
    offsets = checked(command.offsets)
    return replace(command, offsets={each: offset for each, offset in offsets.items() if offset is not None})
