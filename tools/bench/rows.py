"""What a run found: one row a measurement, as pairs of ours and the peer's, with their spread."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table

from tools.bench.processes import Moved

_COLUMNS = (
    "row", "unit", "Copycat", "Kafka Connect", "ratio", "kcat", "of kcat",
    "CPU s per million (Copycat / Connect / kcat)", "settings on both sides",
)  # fmt: skip


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
    """kcat's, taken after both; none where it does nothing alike."""
    cpu: dict[str, list[float]] = field(default_factory=dict)
    """By side (`ours`, `peer`, `kcat`): seconds of CPU time for a million records, where that is measured."""

    def note(self, side: str, figure: float | Moved) -> None:
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
