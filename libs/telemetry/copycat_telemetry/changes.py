"""One log line for each change that an operator looks for; and who asks for it, which travels with calls."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Final


def log_change(logger: logging.Logger, what: str, level: int = logging.INFO, **about: object) -> None:
    """Log a change, such as `connector deleted`.

    Args:
        logger: Whose level decides.
        what: What happened, the same text for each change of its kind; without names and values.
        level: The level of the line.
        about: Its keys (`connector`, `task`, `worker`, `by`, `why` ...); those that are None are left out.
            Never a secret.
    """
    _log(logger, what, level, about)


def log_each(logger: logging.Logger, what: str, level: int = logging.INFO, **about: object) -> None:
    """Log a change as `log_change` does, however often: of other warnings the like are counted."""
    _log(logger, what, level, about, unlimited=True)


def _log(
    logger: logging.Logger, what: str, level: int, about: Mapping[str, object], *, unlimited: bool = False
) -> None:
    if logger.isEnabledFor(level):
        fields = {key: value for key, value in about.items() if value is not None}
        logger.log(level, "%s", what, extra={"fields": fields, "unlimited": unlimited})


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
