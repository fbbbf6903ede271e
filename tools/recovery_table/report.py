"""What the rows showed, as a table for the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from copycat_testkit.outcomes import keep_rows, markdown_table

from tools.recovery_table.measure import Outcome

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
