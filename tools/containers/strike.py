"""A failure, from the strike until all is well again, and what failures cost as a table in deploy/E2E.md."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
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
    """Those measured so far."""

    def __init__(self) -> None:
        """No outcomes were measured."""
        self._rows: list[tuple[str, ...]] = []

    def add(self, outcome: Outcome) -> None:
        """Add one of which nothing was lost."""
        flows = f"{outcome.flows:.1f}" if outcome.flows else "-"
        self._rows.append((outcome.failure, flows, f"{outcome.well:.1f}", str(outcome.repeated)))

    def show(self) -> None:
        """Print them."""
        table = Table(*HEAD, title=f"What failures cost (load {os.getloadavg()[0]:.0f})")
        for row in self._rows:
            table.add_row(*row)
        Console(width=120).print("", table)

    def write(self) -> None:
        """Put them in place of the table in deploy/E2E.md; what was not measured leaves it as it is."""
        if not self._rows:
            return
        write_between(PAGE, "table", markdown_table(HEAD, self._rows))


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
