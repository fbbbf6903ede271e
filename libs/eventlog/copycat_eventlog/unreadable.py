"""Records of a log that cannot be read: passed over, said once each, counted, never the end of a service."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from copycat_telemetry.changes import log_change

from copycat_eventlog.json_text import MalformedError
from copycat_eventlog.log import Codec, Entry, Record

log = logging.getLogger(__name__)
E = TypeVar("E")
S = TypeVar("S")

#: A watch sends each fact in one message, and services take 64 MiB. Kafka's own limit is 1 MB, unless raised.
MAX_BYTES: Final = 16 * 1024 * 1024
#: More of a key is no use to anybody; it is what another program wrote.
MAX_KEY_CHARACTERS: Final = 300


@dataclass(slots=True)
class Unreadable:
    """What a service could not read of its logs since it started."""

    records: int = 0
    last: str = ""
    """Topic, partition and offset of the last one; empty where there was none."""
    at: float = 0.0
    """When that was met, on the clock that never runs backwards."""


@dataclass(frozen=True, slots=True)
class Decoded(Generic[E]):
    """What a codec made of a record."""

    event: E | None
    """None for a record that changes nothing."""
    why: str = ""
    """What is wrong with the record, without its value; empty where nothing is."""


def decode(codec: Codec[E], record: Record) -> Decoded[E]:
    """Read a record, whatever it holds: nothing is raised, not even for a fault of the codec."""
    try:
        _check_size(record)
        return Decoded(codec.decode(record))
    except Exception as error:  # one record must not end who folds all the others
        why = _reason(error)
    if codec.forgets_unreadable and record.value is not None:
        with suppress(Exception):  # as above
            return Decoded(codec.decode(replace(record, value=None)), why)
    return Decoded(None, why)


class LogRecordReader(Generic[E]):
    """Reads the records of one log."""

    def __init__(self, codec: Codec[E], topic: str, unreadable: Unreadable | None = None) -> None:
        """`topic` names the log; what cannot be read is counted in `unreadable`."""
        self._codec = codec
        self._topic = topic
        self.unreadable = unreadable or Unreadable()

    def step(self, evolve: Callable[[S, E], S], state: S, entry: Entry) -> tuple[E | None, S]:
        """Return the event of a record, or None for one that is passed over, and the state after it."""
        found = decode(self._codec, entry.record)
        if found.why:
            self._say(entry, found.why, forgotten=found.event is not None)
        if found.event is None:
            return None, state
        try:
            return found.event, evolve(state, found.event)
        except Exception as error:  # `evolve` is total by law; one record must not end the fold of all others
            self._say(entry, _reason(error), forgotten=False)
            return None, state

    def _say(self, entry: Entry, why: str, *, forgotten: bool) -> None:
        """Log it; a value that replaced an older one is taken for a tombstone, as compaction would (L1)."""
        self.unreadable.records += 1
        self.unreadable.at = time.monotonic()
        self.unreadable.last = f"topic {self._topic}, partition {entry.partition}, offset {entry.offset}"
        log_change(
            log,
            "record taken for a tombstone" if forgotten else "record ignored",
            logging.ERROR if forgotten else logging.WARNING,
            topic=self._topic,
            partition=entry.partition,
            offset=entry.offset,
            key=repr(entry.record.key[:MAX_KEY_CHARACTERS])[:MAX_KEY_CHARACTERS],
            why=why,
        )


def _check_size(record: Record) -> None:
    size = len(record.key) + len(record.value or b"")
    if size > MAX_BYTES:
        raise MalformedError(f"it has {size} bytes; more than {MAX_BYTES} are not read")


def _reason(error: Exception) -> str:
    """Return what a codec says; of any other error only the kind, since its text may hold a value."""
    return str(error) if isinstance(error, MalformedError) else f"it cannot be read ({type(error).__name__})"
