"""The smallest event-sourced service: keys with values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from copycat_connect.errors import ConfigError
from copycat_eventlog.decider import Decider
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.json_text import MalformedError
from copycat_eventlog.log import Record
from immutables import Map


@dataclass(frozen=True, slots=True)
class PutKey:
    """Set a key to a value, or forget it; refused when the value is `bad`."""

    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class WasPut:
    """A key has a value, or none any more."""

    key: str
    value: str | None


State: TypeAlias = Map[str, str]
Puts: TypeAlias = EventSourced[PutKey, WasPut, State]
EMPTY: State = Map()


def decide(command: PutKey, state: State) -> tuple[WasPut, ...]:
    """Refuse bad values; do nothing when the key has the value."""
    if command.value == "bad":
        raise ConfigError("bad value")
    return () if state.get(command.key) == command.value else (WasPut(command.key, command.value),)


def evolve(state: State, event: WasPut) -> State:
    """Set the event's key, or forget it when the event has no value."""
    if event.value is None:
        return state.delete(event.key) if event.key in state else state
    return state.set(event.key, event.value)


class PutCodec:
    """Keys and values as UTF-8 text."""

    forgets_unreadable: Final = False

    def encode(self, event: WasPut) -> Record:
        """Return the key and the value as UTF-8 text; a null value makes a tombstone."""
        return Record(event.key.encode(), None if event.value is None else event.value.encode())

    def decode(self, record: Record) -> WasPut:
        """Return the event.

        Raises:
            MalformedError: It is not text.
        """
        try:
            return WasPut(record.key.decode(), None if record.value is None else record.value.decode())
        except UnicodeDecodeError as error:
            raise MalformedError("it is not UTF-8") from error


DECIDER: Decider[PutKey, WasPut, State] = Decider(EMPTY, decide, evolve)
