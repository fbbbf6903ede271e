"""A failure, from the strike until all is well again, and what failures cost as a table in deploy/E2E.md."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from copycat_testkit.arrivals import pauses
from copycat_testkit.kafka import wait_until
from copycat_testkit.outcomes import Steady, markdown_table, write_between
from rich.console import Console
from rich.table import Table

from tools.containers.engine import ROOT
from tools.containers.flow import Flow

PAGE: Final = ROOT / "deploy/E2E.md"
HEAD: Final = ("failure", "lines flow again, s", "all is well, s", "repeated")
#: Those whose rows are shown together.
SERVICES: Final = ("config", "offset", "status", "scheduler")
#: A shorter pause does not count: sinks get what was polled in between.
PAUSE_SECONDS: Final = 2.0
#: So long everything has to be well before it counts as over.
STEADY_SECONDS: Final = 3.0
#: However slow a busy machine makes it.
WELL_SECONDS: Final = 240.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a failure cost; times are in seconds from the strike."""

    failure: str
    flows: float
    """Until lines arrived again in every pipeline after the last pause; 0: there was none."""
    well: float
    """Until every connector and task was said to run, and every service was there."""
    repeated: int
    """Lines that came more than once."""


class Outcomes:
    """Those measured so far, of which nothing was lost."""

    def __init__(self) -> None:
        """No outcomes were measured."""
        self._measured: list[Outcome] = []

    def add(self, outcome: Outcome) -> None:
        """Keep what a failure cost, for `show` and the page."""
        self._measured.append(outcome)

    def show(self) -> None:
        """Print a table with a line for each failure."""
        table = Table(*HEAD, title=f"What failures cost (load {os.getloadavg()[0]:.0f})")
        for each in self._measured:
            table.add_row(*_row(each.failure, [each]))
        Console(width=120).print("", table)

    def write(self) -> None:
        """Put them in place of the table in deploy/E2E.md; what was not measured leaves it as it is."""
        if self._measured:
            write_between(PAGE, "table", markdown_table(HEAD, page_rows(self._measured)))


def page_rows(measured: Iterable[Outcome]) -> list[tuple[str, ...]]:
    """Return the rows of the page: one for what was done to each of the services with a log."""
    alike: dict[str, list[tuple[str, Outcome]]] = {}
    for each in measured:
        service = next((word for word in each.failure.split() if word in SERVICES), "")
        failure = each.failure.replace(service, "{}", 1) if service else each.failure
        alike.setdefault(failure, []).append((service, each))
    return [
        _row(failure.format(", ".join(service for service, _ in found)), [each for _, each in found])
        for failure, found in alike.items()
    ]


def _row(failure: str, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    flows = _range([each.flows for each in outcomes]) if any(each.flows for each in outcomes) else "-"
    repeated = sorted({each.repeated for each in outcomes})
    shown = f"{repeated[0]}" if len(repeated) == 1 else f"{repeated[0]} to {repeated[-1]}"
    return failure, flows, _range([each.well for each in outcomes]), shown


def _range(seconds: Sequence[float]) -> str:
    low, high = f"{min(seconds):.1f}", f"{max(seconds):.1f}"
    return low if low == high else f"{low} to {high}"


def measure(
    flow: Flow,
    failure: str,
    strike: Callable[[], None],
    undo: Callable[[], None] = lambda: None,
    *,
    away: float = 0,
) -> Outcome:
    """Strike, wait `away` seconds, undo it, and wait until all is well.

    Raises:
        AssertionError: It does not get well, or lines are lost.
    """
    wait_until(
        lambda: flow.moves_since(0) and flow.statuses.running(), WELL_SECONDS, f"well before: {failure}"
    )
    before, moment = flow.tally(), time.monotonic()
    strike()
    while time.monotonic() < moment + away:  # the failure is that it lasts
        time.sleep(0.1)
    undo()
    well = _gets_well(flow, failure, time.monotonic())
    after = flow.tally()
    return Outcome(failure, _flows(flow, moment), well - moment, after.since(before).repeated)


def _gets_well(flow: Flow, failure: str, earliest: float) -> float:
    """Return the moment since which all has been well."""
    steady = Steady(lambda: flow.moves_since(earliest) and flow.statuses.running(), STEADY_SECONDS)
    wait_until(steady, WELL_SECONDS, f"all is well after: {failure}; {flow.tally()}")
    return steady.since


def _flows(flow: Flow, moment: float) -> float:
    return max((pause.ended for pause in pauses(flow.pulses, moment, PAUSE_SECONDS)), default=0.0)
