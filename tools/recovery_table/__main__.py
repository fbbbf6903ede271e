"""`make recovery-table`: let a running system suffer each failure once, and print what it cost."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from copycat_embedded.jars import ensure_jars
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tools.recovery_table.measure import PATIENCE_SECONDS, Outcome, markdown, measure, save
from tools.recovery_table.strikes import ROWS, Row
from tools.recovery_table.system import faulty_system

OUT = Path("build/recovery_table.json")
WIDE = 180


def main() -> int:
    """Measure the rows asked for; returns 0 when nothing was lost and all healed without a hand."""
    wanted = _arguments()
    rows = [row for name, row in ROWS.items() if not wanted.only or any(each in name for each in wanted.only)]
    if wanted.list:
        print("\n".join(row.name for row in rows))
        return 0
    console = Console(stderr=True) if sys.stderr.isatty() else Console(stderr=True, width=WIDE)
    ensure_jars(("broker",))
    with tempfile.TemporaryDirectory(prefix="copycat-recovery-") as folder:
        outcomes = _measured(rows, Path(wanted.folder or folder), wanted.patience, console)
    print(markdown(outcomes))
    return 0 if all(each.healed for each in outcomes) else 1


def _measured(rows: Sequence[Row], folder: Path, patience: float, console: Console) -> list[Outcome]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    outcomes: list[Outcome] = []
    with Progress(*columns, console=console) as progress, faulty_system(folder) as system:
        bar = progress.add_task("a system that is well", total=len(rows))
        for row in rows:
            progress.update(bar, description=row.name)
            outcomes.append(measure(system, row, patience))
            save(outcomes, OUT)
            console.print(markdown(outcomes[-1:]).splitlines()[-1], markup=False, soft_wrap=True)
            progress.advance(bar)
    return outcomes


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make recovery-table", description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the names of the rows, and do nothing")
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="rows whose names contain it; may be given again"
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=PATIENCE_SECONDS,
        help=f"seconds a failure may last before somebody lends a hand ({PATIENCE_SECONDS:.0f})",
    )
    parser.add_argument("--folder", default="", help="keeps data and logs there; by default they are removed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
