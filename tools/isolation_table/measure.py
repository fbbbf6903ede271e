"""One row: a harm is done to a system that is well, and what its neighbours notice is measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import httpx

from tools.crash_matrix.counts import Tally
from tools.isolation_table.system import Neighbourhood

#: So long the neighbours are watched, though the verdict came sooner.
WATCHED_SECONDS: Final = 10.0
#: How late records and answers may be.
LATE_SECONDS: Final = 1.0
_HEAD: Final = (
    "point",
    "what is done",
    "what becomes of it",
    "longest gap of a neighbour",
    "lost",
    "slowest answer",
    "refused",
    "restart",
)


@dataclass(frozen=True, slots=True)
class Harm:
    """What is done, and undone after the restart that follows it."""

    point: str
    """Kind of harm, by which rows can be chosen."""
    name: str
    do: Callable[[Neighbourhood], str]
    """Do it, and wait for what becomes of it; returns that in a few words.

    Raises:
        AssertionError: Something else became of it.
        TimeoutError: Nothing did.
    """
    undo: Callable[[Neighbourhood], None] = lambda _: None
    loses: str = ""
    """An internal topic whose loss has to be accepted before anything starts again."""
    all_notice: bool = False
    """Everybody is asked to stand: no neighbour could be better off."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a harm came to; times are in seconds."""

    harm: Harm
    verdict: str
    """What became of it."""
    good: bool
    """Whether that is what should become of it."""
    gap: float
    """The longest time in which a neighbour's records did not arrive."""
    tally: Tally
    """What was lost and repeated of the neighbours' records."""
    slowest: float
    """The slowest answer to a request about neighbours."""
    problems: Sequence[str]
    """Requests about neighbours that were not answered well."""
    restart: float | None
    """Until a restart had brought everybody back; None where it did not."""

    @property
    def contained(self) -> bool:
        """Whether nobody else noticed, and a restart came up."""
        late = not self.harm.all_notice and max(self.gap, self.slowest) > LATE_SECONDS
        refused = not self.harm.all_notice and bool(self.problems)
        return self.good and not (late or refused or self.tally.lost) and self.restart is not None


def measure(system: Neighbourhood, harm: Harm, *, restarts: bool) -> Outcome:
    """Do a harm, watch, restart unless told otherwise, and undo it.

    Raises:
        TimeoutError: The neighbours are not well before.
    """
    system.settle()
    before, began = system.tally(), time.monotonic()
    try:
        verdict, good = harm.do(system), True
    except (AssertionError, TimeoutError, httpx.TransportError) as error:
        verdict, good = str(error) or repr(error), False
    time.sleep(max(0.0, began + WATCHED_SECONDS - time.monotonic()))  # a neighbour may notice later
    gap = system.longest_gap(began)
    answers = [each for each in list(system.answers) if each.asked >= began]
    slowest = max((each.seconds for each in answers), default=0.0)
    problems = [each.problem for each in answers if each.problem]
    restart = _well_again(system, harm, restarts=restarts)
    return Outcome(harm, verdict, good, gap, system.tally().since(before), slowest, problems, restart)


def _well_again(system: Neighbourhood, harm: Harm, *, restarts: bool) -> float | None:
    """Restart the system with the harm in it, then undo the harm; None where it does not get well."""
    try:
        restart = system.restart(harm.loses) if restarts or harm.loses else 0.0
        harm.undo(system)
        system.settle()
    except (AssertionError, TimeoutError, httpx.TransportError):
        return None
    return restart


def markdown(outcomes: Sequence[Outcome]) -> str:
    """Return the table; times in seconds."""
    lines = [_line(_HEAD), _line(("---",) * len(_HEAD)), *(_line(_cells(each)) for each in outcomes)]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(outcome: Outcome) -> tuple[str, ...]:
    verdict = " ".join(outcome.verdict.split()).replace("|", "\\|")
    return (
        outcome.harm.point,
        outcome.harm.name,
        verdict if outcome.good else f"**not as it should be**: {verdict}",
        f"{outcome.gap:.1f}" + (" (all stand)" if outcome.harm.all_notice else ""),
        str(outcome.tally.lost),
        f"{outcome.slowest:.1f}",
        str(len(outcome.problems)),
        "**did not come up**" if outcome.restart is None else f"{outcome.restart:.0f}",
    )
