"""Who asks for what is done now; it travels with calls between services."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Final

Metadatum = tuple[str, str | bytes]

USER: Final = "user"
AUTOMATIC: Final = "automatic"
#: Names may have any characters, which gRPC carries in metadata of this suffix only.
ASKER_KEY: Final = "copycat-asker-bin"
MAX_NAME_CHARACTERS: Final = 100


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asked for something."""

    type: str = ""
    """`user`, `automatic`, or empty where nobody knows."""
    name: str = ""
    """Of the user, empty where nobody has to log in; or the part of Copycat that acts."""
    address: str = ""
    """Where the request came from; empty where there was none."""


NOBODY: Final = Asker()
_asker: ContextVar[Asker] = ContextVar("asker", default=NOBODY)


def current_asker() -> Asker:
    """Return who asks in this context."""
    return _asker.get()


@contextmanager
def asking(asker: Asker) -> Iterator[None]:
    """Do what the block does for somebody."""
    token = _asker.set(asker)
    try:
        yield
    finally:
        _asker.reset(token)


def asker_metadata() -> list[Metadatum]:
    """Return what a call carries; nothing where nobody is known to ask."""
    asker = _asker.get()
    return [] if asker == NOBODY else [(ASKER_KEY, json.dumps(asdict(asker)).encode())]


def asker_of(metadata: Iterable[Metadatum] | None) -> Asker:
    """Return who asks, says a call; nobody where it says nothing that can be read."""
    given = next((value for key, value in metadata or () if key == ASKER_KEY), None)
    if given is None:
        return NOBODY
    try:
        found = json.loads(given)
        fields = (str(found.get(name, ""))[:MAX_NAME_CHARACTERS] for name in ("type", "name", "address"))
        return Asker(*fields)
    except (ValueError, AttributeError, RecursionError):
        return NOBODY
