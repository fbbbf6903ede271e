"""What a run found: one row a measurement, as pairs of ours and the peer's, with their spread."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table


@dataclass(slots=True)
class Row:
    """Pairs of figures taken in turn under the same settings."""

    name: str
    """Stable name; later rows are added, none is renamed."""
    unit: str
    """What a figure counts."""
    settings: str
    """What both sides were told."""
    ours: list[float] = field(default_factory=list)
    """Copycat's figures, one a pair."""
    peer: list[float] = field(default_factory=list)
    """Apache Kafka Connect's, taken right after each of ours."""

    def ratios(self) -> list[float]:
        """Return ours to the peer's, pair by pair."""
        return [ours / peer for ours, peer in zip(self.ours, self.peer, strict=False) if peer]

    def as_json(self) -> dict[str, object]:
        """Return the row as `build/bench.json` holds it; `ratio` is min, median, max."""
        return {
            "name": self.name,
            "unit": self.unit,
            "settings": self.settings,
            "ours": spread(self.ours),
            "peer": spread(self.peer),
            "ratio": spread(self.ratios()),
        }


def spread(figures: list[float]) -> list[float]:
    """Return min, median and max."""
    if not figures:
        return []
    return [round(value, 3) for value in (min(figures), statistics.median(figures), max(figures))]


def table(rows: list[Row]) -> Table:
    """Return the rows for the terminal."""
    shown = Table(
        title="Copycat beside Apache Kafka Connect 4.3.1, same broker, in turn (min / median / max)"
    )
    for column in ("row", "unit", "Copycat", "Kafka Connect", "ratio", "settings on both sides"):
        shown.add_column(column, justify="left" if column in ("row", "settings on both sides") else "right")
    for row in rows:
        shown.add_row(row.name, row.unit, _text(row.ours), _text(row.peer), _text(row.ratios()), row.settings)
    return shown


def _text(figures: list[float]) -> str:
    return (
        " / ".join(f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" for value in spread(figures)) or "-"
    )


def save(rows: list[Row], path: Path) -> None:
    """Write the rows; a run cut short keeps what it has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([row.as_json() for row in rows], indent=2) + "\n")
