"""What failures cost, as a table for people and for deploy/E2E.md."""

from __future__ import annotations

import os
from typing import Final

from rich.console import Console
from rich.table import Table

from tools.containers.engine import ROOT
from tools.containers.strike import Outcome

PAGE: Final = ROOT / "deploy/E2E.md"
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
HEAD: Final = ("failure", "lines flow again", "all is well", "lost", "repeated")


class Outcomes:
    """Those measured so far."""

    def __init__(self) -> None:
        """No outcomes were measured."""
        self._rows: list[tuple[str, ...]] = []

    def add(self, outcome: Outcome) -> None:
        """Add one of which nothing was lost."""
        flows = f"{outcome.flows:.1f} s" if outcome.flows else "never stopped"
        self._rows.append((outcome.failure, flows, f"{outcome.well:.1f} s", "0", str(outcome.repeated)))

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
        lines = [_line(HEAD), _line(("---",) * len(HEAD)), *(_line(row) for row in self._rows)]
        before, _, rest = PAGE.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text("\n".join([f"{before}{BEGIN}", *lines, f"{END}{after}"]))


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"
