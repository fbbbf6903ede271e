"""One row: a harm is done to a system that is well, and what its neighbours notice is measured."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2
from confluent_kafka import KafkaException
from copycat_connect.errors import CopycatError
from copycat_testkit.arrivals import Tally

from tools.isolation_table.system import Neighbourhood

#: So long the neighbours are watched, though the verdict came sooner.
WATCHED_SECONDS: Final = 10.0
#: How late records and answers may be.
LATE_SECONDS: Final = 1.0
#: What differs from run to run in what is said: addresses and moments.
_PASSING: Final = (
    (re.compile(r"127\.0\.0\.1:\d{4,}"), "HOST:PORT"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.+Z]+"), "TIME"),
)
#: What a harm, a restart or the way back may end in.
FAILURES: Final = (AssertionError, TimeoutError, httpx2.HTTPError, CopycatError, KafkaException)


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
    small_disk: bool = False
    """It wants a system of its own, whose Kafka lies on a small disk."""

    @property
    def title(self) -> str:
        """By which the row is chosen, and kept."""
        return f"{self.point} {self.name}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a harm came to; times are in seconds."""

    point: str
    name: str
    """Both of the harm."""
    becomes: str
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
    all_notice: bool = False
    """Of the harm."""

    @property
    def title(self) -> str:
        """That of the harm."""
        return f"{self.point} {self.name}"

    @property
    def contained(self) -> bool:
        """Whether nobody else noticed, and a restart came up."""
        late = not self.all_notice and max(self.gap, self.slowest) > LATE_SECONDS
        refused = not self.all_notice and bool(self.problems)
        return self.good and not (late or refused or self.tally.lost) and self.restart is not None


def measure(system: Neighbourhood, harm: Harm, *, restarts: bool) -> Outcome:
    """Do a harm, watch, restart unless it says otherwise, and undo it."""
    try:
        system.settle()
    except FAILURES as error:
        return not_done(harm, error)
    before, began = system.tally(), time.monotonic()
    try:
        becomes, good = harm.do(system), True
    except FAILURES as error:
        becomes, good = str(error) or repr(error), False
    time.sleep(max(0.0, began + WATCHED_SECONDS - time.monotonic()))  # a neighbour may notice later
    gap = system.longest_gap(began)
    answers = [each for each in list(system.answers) if each.asked >= began]
    slowest = max((each.seconds for each in answers), default=0.0)
    problems = [each.problem for each in answers if each.problem]
    restart = _well_again(system, harm, restarts=restarts)
    tally = system.tally().since(before)
    becomes = _lasting(becomes, system.folder)
    return Outcome(
        harm.point, harm.name, becomes, good, gap, tally, slowest, problems, restart, harm.all_notice
    )


def not_done(harm: Harm, error: BaseException) -> Outcome:
    """Return what is said of a row for which there was no system that is well."""
    return Outcome(harm.point, harm.name, f"not done: {error!r}", False, 0.0, Tally(), 0.0, (), None)


def _lasting(text: str, folder: Path) -> str:
    """Return what is said without what is another one in the next run."""
    text = text.replace(str(folder), "FOLDER")
    for pattern, word in _PASSING:
        text = pattern.sub(word, text)
    return text


def _well_again(system: Neighbourhood, harm: Harm, *, restarts: bool) -> float | None:
    """Restart the system with the harm in it, then undo the harm; None where it does not get well."""
    try:
        restart = system.restart(harm.loses) if restarts or harm.loses else 0.0
        harm.undo(system)
        system.settle()
    except FAILURES:
        return None
    return restart
