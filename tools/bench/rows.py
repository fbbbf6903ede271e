"""What a run is asked for, and what it finds: one row a measurement, in pairs, with the spread of figures."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from copycat_testkit.processes import cpu_seconds, tree
from rich.progress import Progress
from rich.table import Table

_COLUMNS = (
    "row", "unit", "Copycat", "Kafka Connect", "ratio", "kcat", "of kcat",
    "CPU s per million (Copycat / Connect / kcat)", "settings on both sides",
)  # fmt: skip
#: The unit of rows that move records; a first round of these warms both sides up and does not count.
RECORDS_PER_SECOND = "records/s"


@dataclass(frozen=True, slots=True)
class Moved:
    """One figure of a throughput row."""

    rate: float
    """Records a second, from the first one that arrived to the last."""
    cpu: float
    """Seconds of CPU time of all processes of the side, for a million records."""


class CpuMeter:
    """Counts the CPU time that a side uses from now on; the broker's is not its own.

    Of processes that end meanwhile nothing counts: a host of an earlier task would take its time with it.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._before = cpu_seconds(tree(pid))

    def moved(self, records: float, rate: float) -> Moved:
        """Return the figure of so many records, moved since the meter was made."""
        used = cpu_seconds(tree(self._pid))
        spent = sum(seconds - self._before.get(process, 0.0) for process, seconds in used.items())
        return Moved(rate, spent / records * 1e6)


Figure = float | Moved
Sides = Mapping[str, Callable[[], Figure]]
"""How `ours`, `peer` and `kcat` are measured, in the order in which that is done."""


@dataclass(slots=True)
class Row:
    """Pairs of figures taken in turn under the same settings."""

    name: str
    """Stable name; later rows are added, none is renamed."""
    unit: str
    """What a figure counts."""
    settings: str
    """What both sides were configured with."""
    ours: list[float] = field(default_factory=list)
    """Copycat's figures, one a pair."""
    peer: list[float] = field(default_factory=list)
    """Apache Kafka Connect's, taken right after each of ours."""
    kcat: list[float] = field(default_factory=list)
    """kcat's, taken after both; empty where it does nothing alike."""
    cpu: dict[str, list[float]] = field(default_factory=dict)
    """By side (`ours`, `peer`, `kcat`): seconds of CPU time for a million records, where that is measured."""

    def note(self, side: str, figure: Figure) -> None:
        """Add a figure of `ours`, `peer` or `kcat`."""
        figures: list[float] = getattr(self, side)
        if isinstance(figure, Moved):
            self.cpu.setdefault(side, []).append(figure.cpu)
            figure = figure.rate
        figures.append(figure)

    def ratios(self) -> list[float]:
        """Return ours to the peer's, pair by pair."""
        return _ratios(self.ours, self.peer)

    def ratios_to_kcat(self) -> list[float]:
        """Return ours to kcat's, pair by pair: how much of what is possible is reached."""
        return _ratios(self.ours, self.kcat)

    def as_json(self) -> dict[str, object]:
        """Return the row as `build/bench.json` holds it; `ratio` is min, median, max."""
        return {
            "name": self.name,
            "unit": self.unit,
            "settings": self.settings,
            "ours": spread(self.ours),
            "peer": spread(self.peer),
            "ratio": spread(self.ratios()),
            "kcat": spread(self.kcat),
            "ratio_to_kcat": spread(self.ratios_to_kcat()),
            "cpu_s_per_million": {side: spread(figures) for side, figures in self.cpu.items()},
        }


@dataclass(frozen=True, slots=True)
class Run:
    """What one call of the benchmark was asked for."""

    folder: Path
    """Where data and logs lie; removed at the end."""
    names: Set[str]
    """The rows to measure; all of them if this is empty."""
    pairs: int
    """How often each row is measured on each side."""
    records: int
    """How many records a throughput figure moves."""
    progress: Progress

    def wants(self, *names: str) -> bool:
        """Say whether one of these rows is to be measured."""
        return not self.names or not self.names.isdisjoint(names)

    def measure(self, row: Row, sides: Sides) -> Row:
        """Fill a row: each side in turn, again and again."""

        def one(measure: Callable[[], Figure]) -> Callable[[], Sequence[Figure]]:
            return lambda: (measure(),)

        self.measure_all((row,), {side: one(measure) for side, measure in sides.items()})
        return row

    def measure_all(self, rows: Sequence[Row], sides: Mapping[str, Callable[[], Sequence[Figure]]]) -> None:
        """Fill rows that one measurement has figures of: each side in turn, again and again."""
        warm_up = rows[0].unit == RECORDS_PER_SECOND
        task = self.progress.add_task(rows[0].name, total=self.pairs + warm_up)
        for pair in range(self.pairs + warm_up):
            figures = {side: measure() for side, measure in sides.items()}
            if pair or not warm_up:
                for side, found in figures.items():
                    for row, figure in zip(rows, found, strict=True):
                        row.note(side, figure)
            self.progress.advance(task)


def _ratios(ours: list[float], others: list[float]) -> list[float]:
    return [one / other for one, other in zip(ours, others, strict=False) if other]


def spread(figures: list[float]) -> list[float]:
    """Return min, median and max."""
    if not figures:
        return []
    return [round(value, 3) for value in (min(figures), statistics.median(figures), max(figures))]


def table(rows: list[Row]) -> Table:
    """Return the rows for the terminal."""
    shown = Table(
        title="Copycat beside Apache Kafka Connect 4.4.0, same broker, in turn (min / median / max)"
    )
    for column in _COLUMNS:
        shown.add_column(column, justify="left" if column in (_COLUMNS[0], _COLUMNS[-1]) else "right")
    for row in rows:
        figures = (row.ours, row.peer, row.ratios(), row.kcat, row.ratios_to_kcat())
        shown.add_row(row.name, row.unit, *map(_text, figures), _cpu(row), row.settings)
    return shown


def _cpu(row: Row) -> str:
    medians = (row.cpu.get(side) for side in ("ours", "peer", "kcat"))
    return " / ".join(f"{statistics.median(each):.2f}" for each in medians if each) or "-"


def _text(figures: list[float]) -> str:
    return (
        " / ".join(f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" for value in spread(figures)) or "-"
    )


def save(rows: list[Row], path: Path) -> None:
    """Write the rows; a run cut short keeps what it has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([row.as_json() for row in rows], indent=2) + "\n")
