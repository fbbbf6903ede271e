"""What the rounds showed: a table, a file, and whether each guarantee was kept."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from copycat_testkit.arrivals import Tally
from copycat_testkit.outcomes import keep_rows
from rich.table import Table

from tools.crash_matrix.rounds import Outcome

AT_END = "stopped in the end"


def broken(kind: str, tally: Tally) -> bool:
    """Tell whether a connector's guarantee was broken."""
    loses = kind == "at_most_once"
    repeats = kind in {"at_least_once", "file_sink"}
    return (tally.lost > 0 and not loses) or (tally.repeated > 0 and not repeats)


def total(tallies: Sequence[Mapping[str, Tally]], kind: str) -> Tally:
    """Return a connector's tallies together."""
    return sum((each[kind] for each in tallies), Tally())


def table(
    outcomes: Sequence[Outcome], last: Mapping[str, Tally], kinds: Sequence[str], records: int
) -> Table:
    """Return one line a fault, with lost / repeated of each connector."""
    shown = Table(
        title=f"{len(outcomes)} rounds, {records:,} records read with read_committed; lost / repeated"
    )
    shown.add_column("fault")
    for column in (
        "rounds",
        "stuck",
        "forgotten by Kafka",
        "until records flow again: median, longest",
        *kinds,
    ):
        shown.add_column(column, justify="right")
    for fault in dict.fromkeys(each.case.fault for each in outcomes):
        found = [each for each in outcomes if each.case.fault == fault]
        seconds = [each.seconds for each in found]
        shown.add_row(
            fault,
            str(len(found)),
            str(sum(bool(each.stuck) for each in found)),
            str(sum(bool(each.forgotten) for each in found)),
            f"{statistics.median(seconds):.1f} s, {max(seconds):.1f} s",
            *(_text(total([each.tallies for each in found], kind)) for kind in kinds),
        )
    shown.add_row(AT_END, "1", "0", "", "", *(_text(last[kind]) for kind in kinds), end_section=True)
    tallies = [*(each.tallies for each in outcomes), last]
    verdicts = ["broken" if broken(kind, total(tallies, kind)) else "kept" for kind in kinds]
    stuck = sum(bool(each.stuck) for each in outcomes)
    forgotten = sum(bool(each.forgotten) for each in outcomes)
    shown.add_row(
        "all",
        str(len(outcomes)),
        str(stuck),
        str(forgotten),
        "",
        *(_text(total(tallies, kind)) for kind in kinds),
    )
    shown.add_row("the guarantee was", "", "", "", "", *verdicts)
    return shown


def kept(outcomes: Sequence[Outcome], last: Mapping[str, Tally], kinds: Sequence[str]) -> bool:
    """Tell whether every guarantee was kept and every fault healed by itself."""
    tallies = [*(each.tallies for each in outcomes), last]
    return not any(broken(kind, total(tallies, kind)) for kind in kinds) and not any(
        each.stuck for each in outcomes
    )


def save(outcomes: Sequence[Outcome], path: Path) -> None:
    """Write every round down."""
    found = [
        {
            "fault": each.case.fault,
            "moment": each.case.moment,
            "seconds": round(each.seconds, 2),
            "stuck": each.stuck,
            "forgotten": [str(forgotten) for forgotten in each.forgotten],
            **{
                kind: {"lost": tally.lost, "repeated": tally.repeated} for kind, tally in each.tallies.items()
            },
        }
        for each in outcomes
    ]
    keep_rows(path, found)


def _text(tally: Tally) -> str:
    return f"{tally.lost} / {tally.repeated}"
