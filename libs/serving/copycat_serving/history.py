"""The history of one service: what keeps it, what records it, and HistoryService, which answers for it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from copycat.history.v1 import history_service_pb2 as pb
from copycat.history.v1 import history_service_pb2_grpc as grpc_pb
from copycat_eventlog.log import Codec, Entry, Record
from copycat_eventlog.observing import Observer
from copycat_eventlog.past.change import SHOWN_KINDS, PastChange
from copycat_eventlog.past.history import DEFAULT_PAGE, HistoryQuestion, PastChanges
from copycat_eventlog.past.keeper import ChangesKeeper
from copycat_eventlog.past.open import open_keeper, past_changes
from copycat_eventlog.past.own_log import Describing
from copycat_eventlog.past.settings import ChangesSettings
from copycat_eventlog.settings import LogSettings
from copycat_rpc.server import RpcServer
from copycat_telemetry.changes import NOBODY, Asker, current_asker
from copycat_telemetry.tracing import current_trace_id

E = TypeVar("E")
S = TypeVar("S")


class Recorder(Observer[E, S]):
    """Remembers who asks while an event is on its way, and keeps the change once the event is durable."""

    def __init__(
        self,
        keeper: ChangesKeeper,
        describing: Describing[E, S],
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """`clock` gives nanoseconds since the epoch."""
        self._keeper = keeper
        self._describing = describing
        self._clock = clock
        self._on_their_way: dict[Record, tuple[Asker, str]] = {}

    def sent(self, events: Sequence[E], records: Sequence[Record]) -> None:
        """Remember for whom; of the same record twice, the later one."""
        asked: tuple[Asker, str] | None = None
        for event, record in zip(events, records, strict=True):
            if not isinstance(event, self._describing.untold):
                asked = asked or (current_asker(), current_trace_id())
                self._on_their_way[record] = asked

    def dropped(self, records: Sequence[Record]) -> None:
        """Forget them: where one is in the log all the same, only the log has it."""
        for record in records:
            self._on_their_way.pop(record, None)

    def folded(self, event: E, before: S, entry: Entry) -> None:
        """Keep what this instance has appended; of others, they do."""
        if not self._on_their_way:
            return
        asked = self._on_their_way.pop(entry.record, None)
        if asked is None:
            return
        asker, trace_id = asked
        for change in self._describing.tell(event, before):
            self._keeper.append(
                replace(
                    change,
                    time_ms=self._clock() // 1_000_000,
                    by=change.by if asker == NOBODY else asker,
                    trace_id=trace_id,
                    position=(entry.partition, entry.offset),
                )
            )


SERVICE = "copycat.history.v1.HistoryService"


def _register_history(server: RpcServer, past: PastChanges) -> None:
    """Let a server answer for the past of its facts."""
    server.add(grpc_pb.add_HistoryServiceServicer_to_server, HistoryServicer(past), SERVICE)


class HistoryServicer(grpc_pb.HistoryServiceServicer):
    """Reads the past anew for each call; any instance of a service can."""

    def __init__(self, past: PastChanges) -> None:
        self._past = past

    async def ReadHistory(self, request: pb.ReadHistoryRequest, context: Any) -> pb.ReadHistoryResponse:
        """Return a page of changes, newest first."""
        question = HistoryQuestion(
            request.connector,
            frozenset(request.kinds) or SHOWN_KINDS,
            request.since_ms if request.HasField("since_ms") else None,
            request.until_ms if request.HasField("until_ms") else None,
            request.before_id,
            request.limit or DEFAULT_PAGE,
        )
        return pb.ReadHistoryResponse(changes=map(change_message, await self._past.page(question)))

    async def ReadFactsAt(self, request: pb.ReadFactsAtRequest, context: Any) -> pb.ReadFactsAtResponse:
        """Return what was in force at a time."""
        found, later = await self._past.facts_at(request.connector, frozenset(request.kinds), request.at_ms)
        return pb.ReadFactsAtResponse(changes=map(change_message, found), later=map(change_message, later))


def change_message(change: PastChange) -> pb.PastChange:
    """Return the message of a change."""
    return pb.PastChange(
        id=change.id,
        time_ms=change.time_ms,
        connector=change.connector,
        kind=change.kind,
        subject=change.subject,
        what=change.what,
        before=change.before,
        after=change.after,
        omitted=change.omitted,
        before_known=change.before_known,
        by=pb.Asker(type=change.by.type, name=change.by.name, address=change.by.address),
        reason=change.reason,
        trace_id=change.trace_id,
    )


@dataclass(frozen=True, slots=True)
class KeptHistory(Generic[E, S]):
    """What the parts of a service use of it."""

    keeper: ChangesKeeper
    """For changes that are in no log."""
    recorder: Recorder[E, S]
    """For the events of the log."""
    settings: ChangesSettings
    """How they are kept."""


@asynccontextmanager
async def keeping_history(
    server: RpcServer,
    properties: Mapping[str, str],
    log: LogSettings,
    *,
    service: str,
    codec: Codec[E],
    telling: Describing[E, S],
) -> AsyncIterator[KeptHistory[E, S]]:
    """Keep the changes of a service and answer for them; enter before the server starts.

    Raises:
        ConfigError: A setting of the changes topic is wrong.
    """
    settings = ChangesSettings.read(properties, log, service)
    keeper = open_keeper(settings)
    _register_history(server, past_changes(settings, keeper, codec, telling))
    try:
        yield KeptHistory(keeper, Recorder(keeper, telling), settings)
    finally:
        await keeper.close()
