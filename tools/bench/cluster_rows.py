"""Rows that need clusters of several workers; these run apart from the others, on brokers of their own."""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import partial
from pathlib import Path
from typing import Final

from rich.progress import Progress

from tools.bench.crowd import CONNECTORS, Answers, answer_times, gather_crowd
from tools.bench.fleets import Fleet, fleets, in_turn
from tools.bench.load import Topics
from tools.bench.rows import Row
from tools.bench.systems import shipped_kafka
from tools.bench.takeover import takeover

REST_ROWS: Final = ("rest-read-p50", "rest-read-p99", "rest-write-p50", "rest-write-p99")
TAKEOVER_ROWS: Final = ("takeover", "takeover-gap-others")
_CROWD: Final = f"{CONNECTORS} file connectors, 2 workers; some are created, changed, restarted, deleted"
_LOSS: Final = "SIGKILL of one of 3 workers, 6 file sources with 20 lines/s, no rebalance delay"


def cluster_rows(folder: Path, names: Set[str], pairs: int, progress: Progress) -> Iterator[Row]:
    """Measure the rows of those names, all of them without names."""
    if not names or names & {*REST_ROWS}:
        yield from _chosen(_rest_rows(folder / "crowd", pairs, progress), names)
    if not names or names & {*TAKEOVER_ROWS}:
        yield from _chosen(_takeover_rows(folder / "takeover", pairs, progress), names)


def _chosen(rows: tuple[Row, ...], names: Set[str]) -> Iterator[Row]:
    return (row for row in rows if not names or row.name in names)


def _rest_rows(folder: Path, pairs: int, progress: Progress) -> tuple[Row, ...]:
    rows = tuple(Row(name, "ms", _CROWD) for name in REST_ROWS)
    refused: dict[Fleet, int] = {}
    with shipped_kafka(folder / "broker") as broker, fleets(folder, broker.bootstrap, 2) as sides:
        Topics(broker.bootstrap).create("bench-crowd")
        task = progress.add_task("rest with a crowd", total=2 + pairs)
        for side in sides:
            refused[side] = 0
            spent = gather_crowd(side.url, folder, "bench-crowd")
            progress.console.print(f"{type(side).__name__}: {CONNECTORS} connectors defined in {spent:.1f} s")
            progress.advance(task)
        for _ in range(pairs):
            in_turn(rows, partial(_answers, folder=folder, refused=refused), sides)
            progress.advance(task)
    counts = " and ".join(f"{count} ({type(side).__name__})" for side, count in refused.items())
    for row in rows:
        row.settings += f"; not counted: {counts} answers of 409, 500 or 503"
    return rows


def _answers(side: Fleet, folder: Path, refused: dict[Fleet, int]) -> tuple[float, ...]:
    answers: tuple[Answers, Answers] = answer_times(side.url, folder, "bench-crowd")
    refused[side] += sum(each.refused for each in answers)
    return tuple(each.quantile(percent) for each in answers for percent in (50, 99))


def _takeover_rows(folder: Path, pairs: int, progress: Progress) -> tuple[Row, ...]:
    rows = tuple(Row(name, "s", _LOSS) for name in TAKEOVER_ROWS)
    with shipped_kafka(folder / "broker") as broker, fleets(folder, broker.bootstrap, 3) as sides:
        task = progress.add_task(TAKEOVER_ROWS[0], total=pairs)
        for _ in range(pairs):
            in_turn(rows, partial(takeover, bootstrap=broker.bootstrap, folder=folder), sides)
            progress.advance(task)
    return rows
