"""One row: a harm is done to a system that is well; what its neighbours notice is measured and shown."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

import httpx2
from confluent_kafka import KafkaException
from copycat_connect.errors import CopycatError
from copycat_testkit.arrivals import Tally
from copycat_testkit.outcomes import keep_rows, markdown_table, write_between

from tools.isolation_table.system import Neighbourhood

KEPT: Final = Path("build/isolation_table.json")
"""Every row that was measured so far."""
PAGE: Final = Path(__file__).parents[2] / "services/launcher/ISOLATION.md"
_MARK: Final = "table"
_HEAD: Final = ("what is done", "what becomes of it", "longest gap", "slowest answer", "repeated", "restart")
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


def markdown(outcomes: Iterable[Outcome]) -> str:
    """Return the table; times in seconds."""
    return markdown_table(_HEAD, map(_cells, outcomes))


def write_page(outcomes: Iterable[Outcome]) -> None:
    """Put the table into the documentation."""
    write_between(PAGE, _MARK, markdown(outcomes))


def save(outcomes: Mapping[str, Outcome], path: Path = KEPT) -> None:
    """Keep the rows, so that what was interrupted can be continued."""
    keep_rows(path, map(asdict, outcomes.values()))


def kept_outcomes(path: Path = KEPT) -> dict[str, Outcome]:
    """Return the rows that were kept, by their titles; none where an older version kept them."""
    if not path.exists():
        return {}
    names = {each.name for each in fields(Outcome)}
    rows = [each for each in json.loads(path.read_text("utf-8")) if each.keys() == names]
    found = [Outcome(**{**each, "tally": Tally(**each["tally"])}) for each in rows]
    return {each.title: each for each in found}


def _cells(outcome: Outcome) -> Sequence[str]:
    noticed = _noticed(outcome)
    return (
        outcome.title,
        (f"**{noticed}**: " if noticed else "") + _short(outcome.becomes),
        f"{outcome.gap:.1f}" + (" (all stand)" if outcome.all_notice else ""),
        f"{outcome.slowest:.1f}",
        str(outcome.tally.repeated),
        "never" if outcome.restart is None else f"{outcome.restart:.0f}",
    )


def _noticed(outcome: Outcome) -> str:
    """Return what was not contained; nothing where all was."""
    noticed = ["not as it should be"] * (not outcome.good)
    if not outcome.all_notice:
        noticed += [f"{len(outcome.problems)} refused"] * bool(outcome.problems)
        noticed += ["late"] * (max(outcome.gap, outcome.slowest) > LATE_SECONDS)
    noticed += [f"{outcome.tally.lost} lost"] * bool(outcome.tally.lost)
    return ", ".join([*noticed, *["did not come up"] * (outcome.restart is None)])


def _short(text: str) -> str:
    """Return what became of a harm without its details, which the kept rows have."""
    words = " ".join(text.split())
    health = re.match(r"(.*)RUNNING: \{'state': '(\w+)'", words)
    state = f"{health[1]}RUNNING, {health[2]}" if health else re.split(r"[:;]", words)[0]
    return state.replace("|", "\\|")
