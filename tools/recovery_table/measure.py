"""One row: the system is struck, and what it makes of that is measured from that moment on, and shown."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from copycat_testkit.arrivals import Gap, Tally, longest_gap, pauses
from copycat_testkit.eventually import wait
from copycat_testkit.outcomes import Steady, keep_rows, markdown_table

from tools.recovery_table.strikes import Fault, Row
from tools.recovery_table.system import BESIDE, SINK, STRUCK, FaultySystem

#: How long a failure may last before somebody lends a hand.
PATIENCE_SECONDS: Final = 60.0
#: A shorter pause does not count: machines stand still for so long.
PAUSE_SECONDS: Final = 1.0
#: So long everything has to be well before it counts as over.
STEADY_SECONDS: Final = 2.0
#: Gaps below it are those of the machine and of the looks.
NO_GAP_SECONDS: Final = 0.3
#: In place of a time where nothing was to be noticed.
_NOTHING: Final = "-"
_HEAD: Final = (
    "failure",
    "status true",
    "flows again",
    "services back",
    "longest gap beside",
    "repeated",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a failure cost; times are in seconds from the strike."""

    row: Row
    status_true: float | None
    """Until the status no longer said that what does not run does; None where that was never said."""
    flows: float | None
    """Until records flowed again, after the last pause; 0 where there was none, None where they never did."""
    whole: float | None
    """Until every service answered again; 0 where none was away, None where one stayed away."""
    beside_gap: float | None
    """The longest gap of the connector beside; None where none of its tasks is unrelated."""
    tally: Tally
    """What was lost and repeated."""
    hand: float | None
    """Seconds from a restart over REST until all was well; None where nobody had to ask for it."""
    pauses: Sequence[Gap]
    """The pauses of the struck source and sink, any partition's; moments are seconds from the strike."""
    load: float
    """Load of the machine, over a minute, at the end."""

    @property
    def healed(self) -> bool:
        """Whether it healed without a hand and lost nothing."""
        return self.hand is None and self.flows is not None and not self.tally.lost


def measure(system: FaultySystem, row: Row, patience: float = PATIENCE_SECONDS) -> Outcome:
    """Strike a system that is well, and wait until it is well again.

    Raises:
        TimeoutError: It is not well before, or not after a restart by hand either.
    """
    system.settle()
    before = system.tallies()
    with row.strike(system) as struck:
        if row.away_seconds:
            time.sleep(row.away_seconds)  # the failure is that it lasts
        else:
            well = _gets_well(system, struck, patience)
    if row.away_seconds:
        well = _gets_well(system, struck, row.away_seconds + patience)
    found_pauses = pauses([*system.pulses[STRUCK], *system.pulses[SINK]], struck.moment, PAUSE_SECONDS)
    flows = max((pause.ended for pause in found_pauses), default=0.0) if well else None
    found = (
        _status_true(system, struck, flows),
        flows,
        _whole(system, struck),
        _beside_gap(system, struck),
    )
    hand = None if well else _restart_by_hand(system)
    system.catch_up()
    after = system.tallies()
    tally = sum((after[name].since(before[name]) for name in after), Tally())
    return Outcome(row, *found, tally, hand, found_pauses, os.getloadavg()[0])


def _gets_well(system: FaultySystem, struck: Fault, seconds: float) -> bool:
    """Wait until all has been well for a while, and what was struck is gone; returns whether it is well."""
    earliest = max(struck.moment + PAUSE_SECONDS, time.monotonic())

    def well() -> bool:
        moves = time.monotonic() > earliest and system.moves_since(earliest)
        return moves and system.statuses.running()

    steady = Steady(well, STEADY_SECONDS)
    with contextlib.suppress(TimeoutError):
        wait(lambda: steady() and not struck.lasts(), seconds, "it lasts")
    return steady()


def _status_true(system: FaultySystem, struck: Fault, flows: float | None) -> float | None:
    said = [each for each in list(system.statuses.said) if each.asked >= struck.moment]
    first = next((each.heard - struck.moment for each in said if each.running is False), None)
    if flows and (first is None or first > flows):
        return flows
    return first


def _whole(system: FaultySystem, struck: Fault) -> float | None:
    said = [each for each in list(system.statuses.said) if each.asked >= struck.moment]
    missing = [each for each in said if not each.healthy]
    if not missing:
        return 0.0
    return next((each.heard - struck.moment for each in said if each.asked > missing[-1].asked), None)


def _beside_gap(system: FaultySystem, struck: Fault) -> float | None:
    pulses = [system.pulses[BESIDE][each] for each in struck.unrelated]
    return longest_gap(pulses, struck.moment) if pulses else None


def _restart_by_hand(system: FaultySystem) -> float:
    moment = time.monotonic()
    for name in (STRUCK, SINK):
        system.ask_aside("POST", f"/connectors/{name}/restart?includeTasks=true")
    wait(
        lambda: system.moves_since(moment) and system.statuses.running(),
        2 * PATIENCE_SECONDS,
        "a restart over REST does not bring it back either",
    )
    return time.monotonic() - moment


def markdown(outcomes: Sequence[Outcome]) -> str:
    """Return the table; times in seconds from the strike."""
    return markdown_table(_HEAD, map(_cells, outcomes))


def save(outcomes: Sequence[Outcome], path: Path) -> None:
    """Write every row down."""
    found = [
        {
            "failure": each.row.name,
            "status_true": each.status_true,
            "flows": each.flows,
            "whole": each.whole,
            "beside_gap": each.beside_gap,
            **asdict(each.tally),
            "hand": each.hand,
            "pauses": [[pause.began, pause.ended] for pause in each.pauses],
            "load": each.load,
        }
        for each in outcomes
    ]
    keep_rows(path, found)


def _cells(outcome: Outcome) -> tuple[str, ...]:
    return (
        outcome.row.name,
        _status(outcome),
        _flows(outcome),
        _seconds(outcome.whole),
        _beside(outcome),
        str(outcome.tally.repeated) + (f", **{outcome.tally.lost} lost**" if outcome.tally.lost else ""),
    )


def _status(outcome: Outcome) -> str:
    if outcome.status_true is None and outcome.flows == 0 and not outcome.row.stops_silently:
        return _NOTHING
    return "not" if outcome.status_true is None else f"{outcome.status_true:.1f}"


def _flows(outcome: Outcome) -> str:
    if outcome.hand is not None:
        return f"not by itself; {outcome.hand:.1f} after a restart"
    return _seconds(outcome.flows)


def _beside(outcome: Outcome) -> str:
    if outcome.beside_gap is None:
        return "none is unrelated"
    text = _NOTHING if outcome.beside_gap < NO_GAP_SECONDS else f"{outcome.beside_gap:.1f}"
    return f"all stand ({text})" if outcome.row.all_stand else text


def _seconds(value: float | None) -> str:
    if value is None:
        return "not"
    return _NOTHING if value == 0 else f"{value:.1f}"
