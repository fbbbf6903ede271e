"""The changes that a service's own log still shows: all that compaction has not forgotten."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from copycat_eventlog.clients import librdkafka_config, read_security
from copycat_eventlog.json_text import readable_time
from copycat_eventlog.log import Codec, Entry
from copycat_eventlog.past.change import PastChange
from copycat_eventlog.past.keeper import Visit
from copycat_eventlog.past.scan import TopicScan
from copycat_eventlog.settings import LogSettings
from copycat_eventlog.unreadable import decode

E = TypeVar("E")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Describing(Generic[E, S]):
    """How the events of a service become changes."""

    tell: Callable[[E, S | None], Iterable[PastChange]]
    """Tells an event, given the state right before it, or None where nobody knows that. Times are left 0."""
    kinds: Collection[str]
    """The kinds that the log is asked for; of others the changes topic alone knows."""
    untold: tuple[type, ...]
    """Classes of events that are no changes."""
    concerns: Callable[[bytes, str], bool]
    """Whether the key of a record may be about a connector; cheap, since it sees every record."""


class OwnLog(Generic[E, S]):
    """Reads a service's topic anew for each question."""

    def __init__(
        self, settings: LogSettings, codec: Codec[E], describing: Describing[E, S], tag: str
    ) -> None:
        """Nothing is connected yet; `tag` distinguishes its changes from those of other services."""
        self._tag = tag
        security = read_security(settings.client_config)
        self._scan = TopicScan(librdkafka_config(settings.bootstrap_servers, security), settings.topic)
        self._codec = codec
        self._describing = describing

    @property
    def kinds(self) -> Collection[str]:
        """The kinds of changes that it shows."""
        return self._describing.kinds

    async def scan(self, connector: str, visit: Visit) -> None:
        """Visit every change of a connector.

        Raises:
            UnavailableError: They could not be read in time.
        """
        describing, codec, tag = self._describing, self._codec, self._tag

        def meet(entry: Entry, time_ms: int) -> None:
            if not describing.concerns(entry.record.key, connector):
                return
            event = decode(codec, entry.record).event  # the fold says what cannot be read
            if event is None:
                return
            for change in describing.tell(event, None):
                if change.connector == connector:
                    visit(
                        replace(
                            change,
                            time_ms=readable_time(time_ms) or 0,
                            position=(entry.partition, entry.offset),
                            place=f"l{tag}.{entry.partition}.{entry.offset:012d}",
                        )
                    )

        await self._scan.run(meet)
