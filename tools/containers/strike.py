"""A failure, from the moment of the strike until all is well again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from copycat_testkit.kafka import wait_until

from tools.containers.flow import Flow
from tools.recovery_table.pulse import Gap

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
    since = 0.0

    def steady() -> bool:
        nonlocal since
        now = time.monotonic()
        if not (flow.moves_since(earliest) and flow.statuses.running()):
            since = 0.0
        elif not since:
            since = now
        return bool(since) and now - since > STEADY_SECONDS

    wait_until(steady, WELL_SECONDS, f"all is well after: {failure}; {flow.tally()}")
    return since


def _flows(flow: Flow, moment: float) -> float:
    now = time.monotonic()
    gaps: list[Gap] = [gap for pulse in flow.pulses for gap in pulse.gaps_since(moment, now)]
    return max((gap.ended - moment for gap in gaps if gap.seconds >= PAUSE_SECONDS), default=0.0)
