"""Kinds of failures: what a failure means for whoever is to mend it, and whether time alone may do so."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Final

from copycat_connect.errors import (
    ConfigError,
    ConnectError,
    DataError,
    OffsetLostError,
    RetriableError,
    UnavailableError,
)


class FailureKind(Enum):
    """What a failure of a task means."""

    CONFIGURATION = "configuration"
    """A setting is wrong: only another configuration helps."""
    AUTHORISATION = "authorisation"
    """A system refuses the login, or what it may do."""
    TRANSIENT = "transient"
    """A system is away, restarts or is too slow: it may be back by itself."""
    OFFSET = "offset"
    """What an offset stands for is gone: only other offsets help."""
    POISON_RECORD = "poison record"
    """A record cannot be read, converted or stored."""
    RESOURCE = "resource"
    """Memory, disk, processes or connections have run out."""
    BUG = "bug"
    """Code failed in a way that it does not explain."""

    @property
    def passes(self) -> bool:
        """True when the same may succeed later, with nobody doing anything to the connector."""
        return self in (FailureKind.TRANSIENT, FailureKind.RESOURCE)


#: Subclasses come before the classes they are of: the first that fits counts.
_BY_CLASS: Final[Mapping[type[BaseException], FailureKind]] = {
    RetriableError: FailureKind.TRANSIENT,
    UnavailableError: FailureKind.TRANSIENT,
    DataError: FailureKind.POISON_RECORD,
    OffsetLostError: FailureKind.OFFSET,
    ConfigError: FailureKind.CONFIGURATION,
    ConnectionError: FailureKind.TRANSIENT,
    TimeoutError: FailureKind.TRANSIENT,
    MemoryError: FailureKind.RESOURCE,
    PermissionError: FailureKind.AUTHORISATION,
}
_BY_ERRNO: Final[Mapping[int, FailureKind]] = {
    **dict.fromkeys(
        (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN),
        FailureKind.RESOURCE,
    ),
    **dict.fromkeys(
        (
            *(errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN),
            # A disk that fails or whose file system was made read-only for that, a file server that restarts.
            *(errno.EIO, errno.EROFS, errno.ESTALE),
        ),
        FailureKind.TRANSIENT,
    ),
}


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, then what caused it, then what caused that."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def declared_kind(
    error: BaseException, declared: Mapping[type[BaseException], FailureKind]
) -> FailureKind | None:
    """Return what a plugin says of one error (`PluginSpec.failures`), without its causes; None if nothing."""
    return next((kind for each, kind in declared.items() if isinstance(error, each)), None)


def failure_kind(error: BaseException) -> FailureKind | None:
    """Return what one error means, without its causes; None when it says nothing."""
    if (known := declared_kind(error, _BY_CLASS)) is not None:
        return known
    if isinstance(error, OSError) and not isinstance(error, ConnectError):
        return _BY_ERRNO.get(error.errno or 0)
    return None


def kind_of(
    error: BaseException,
    declared: Mapping[type[BaseException], FailureKind],
    others: Callable[[BaseException], FailureKind | None] = lambda _: None,
) -> FailureKind | None:
    """Return what an error means together with what caused it; None when none of them says anything.

    What the plugin says of any of them counts first. Else it is the innermost cause that says something: an
    error that wraps another says less than that one.

    Args:
        error: What was raised.
        declared: What the plugin says of exceptions (`PluginSpec.failures`).
        others: Says what errors mean that are not known here.
    """
    chain = list(causes(error))
    said = next((kind for each in chain if (kind := declared_kind(each, declared)) is not None), None)
    if said is not None:
        return said
    found = [kind for each in chain if (kind := failure_kind(each) or others(each)) is not None]
    return found[-1] if found else None
