"""What the query of an offsets request asks for besides its body: a dry run, a time.

Clients of Kafka Connect never send these parameters. It ignores what it does not know; here a name that is
almost right is refused, since a mistyped dry run would change offsets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from litestar import Request
from litestar.datastructures import State
from litestar.di import Provide
from litestar.params import QueryParameter

from copycat_gateway.errors import BadRequestError
from copycat_gateway.moments import duration, instant

DRY_RUN: Final = "dry_run"
TO: Final = "to"
REWIND: Final = "rewind"
_NAMES: Final = {name.replace("_", ""): name for name in (DRY_RUN, TO, REWIND)}


@dataclass(frozen=True, slots=True)
class Moment:
    """A time to which positions are to move."""

    time: datetime
    """The point in time, with its zone."""
    only_back: bool
    """Nothing moves forward: it was asked to rewind."""

    @property
    def millis(self) -> int:
        """Milliseconds since the epoch."""
        return round(self.time.timestamp() * 1000)

    @property
    def text(self) -> str:
        """The point in time by ISO 8601, in UTC."""
        return iso(self.millis)


@dataclass(frozen=True, slots=True)
class OffsetsQuery:
    """How a change is to be made."""

    dry_run: bool
    """Nothing is to be changed."""
    moment: Moment | None
    """Where positions are to move to; None where a body says that."""


def check_names(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a parameter that is almost one of ours, or one that this request does not take.

    Raises:
        BadRequestError: It names the parameter and the fix.
    """
    for name in given:
        meant = _NAMES.get(re.sub(r"[^a-z]", "", name.lower()))
        if meant is None or name in known:
            continue
        if meant in known:
            raise BadRequestError(f"There is no query parameter '{name}': write {meant}")
        raise BadRequestError(
            f"This request takes no query parameter '{name}': it is PATCH that moves offsets to a time, with"
            f" {TO} or {REWIND}"
        )


def is_dry(value: str | None) -> bool:
    """Return whether a dry run is asked for.

    Raises:
        BadRequestError: The value is neither true nor false.
    """
    if value is None:
        return False
    if value.lower() not in {"true", "false"}:
        raise BadRequestError(f"{DRY_RUN} is '{value}': write {DRY_RUN}=true, or leave it out")
    return value.lower() == "true"


def moment(given: Mapping[str, str | None], now: datetime) -> Moment | None:
    """Return the time asked for by `to` or `rewind`; None where neither is given.

    Raises:
        BadRequestError: Both are given, or one is no time.
    """
    to, rewind = given.get(TO), given.get(REWIND)
    if to is not None and rewind is not None:
        raise BadRequestError(f"Both {TO} and {REWIND} are given: write one of them")
    if to is not None:
        return Moment(instant(to), only_back=False)
    return None if rewind is None else Moment(now - duration(rewind), only_back=True)


def iso(millis: int) -> str:
    """Return milliseconds since the epoch as ISO 8601, in UTC."""
    time = datetime.fromtimestamp(millis / 1000, UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


DryRun = Annotated[
    str | None,
    QueryParameter(
        name=DRY_RUN,
        description="true: say what the change would do, and change nothing. The connector may run.",
    ),
]
To = Annotated[
    str | None,
    QueryParameter(
        name=TO,
        description="Instead of a body: move every position to this time, as in 2026-11-20T10:00Z.",
    ),
]
Rewind = Annotated[
    str | None,
    QueryParameter(
        name=REWIND,
        description="Instead of a body: move every position back by this time, as in 2h, 1d12h or PT2H.",
    ),
]


async def dry_run(request: Request[Any, Any, State], dry: DryRun = None) -> bool:
    """Return whether nothing is to be changed."""
    check_names(request.query_params, (DRY_RUN,))
    return is_dry(dry)


async def options(
    request: Request[Any, Any, State], dry: DryRun = None, to: To = None, rewind: Rewind = None
) -> OffsetsQuery:
    """Return how a change is to be made."""
    check_names(request.query_params, (DRY_RUN, TO, REWIND))
    return OffsetsQuery(is_dry(dry), moment({TO: to, REWIND: rewind}, datetime.now(UTC)))


ONLY_DRY_RUN = {"dry_run": Provide(dry_run)}
OPTIONS = {"options": Provide(options)}
