"""`make isolation-table`: do each harm to a running system once, and print what its neighbours notice."""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from copycat_embedded.jars import ensure_jars
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tools.isolation_table.harms import HARMS
from tools.isolation_table.measure import Harm, Outcome, markdown, measure
from tools.isolation_table.system import neighbourhood

OUT: Final = Path("build/isolation_table.json")
WIDE: Final = 200
SHOWN_PROBLEMS: Final = 3


def main() -> int:
    """Measure the rows asked for; returns 0 when no neighbour noticed any of them."""
    wanted = _arguments()
    asked = [text.lower() for text in wanted.only]
    rows = [each for each in HARMS if not asked or any(text in _title(each).lower() for text in asked)]
    if wanted.list:
        print("\n".join(map(_title, rows)))
        return 0
    console = Console(stderr=True) if sys.stderr.isatty() else Console(stderr=True, width=WIDE)
    ensure_jars(("broker",))
    with tempfile.TemporaryDirectory(prefix="copycat-isolation-") as folder:
        place = Path(wanted.folder or folder)
        outcomes = _measured(rows, place, console, restarts=not wanted.no_restarts)
    print(markdown(outcomes))
    return 0 if all(each.contained for each in outcomes) else 1


def _title(harm: Harm) -> str:
    return f"{harm.point} {harm.name}"


def _measured(rows: Sequence[Harm], folder: Path, console: Console, *, restarts: bool) -> list[Outcome]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    outcomes: list[Outcome] = []
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("ten healthy connectors", total=len(rows))
        for outcome in _each_measured(rows, folder, restarts=restarts):
            outcomes.append(outcome)
            _save(outcomes)
            console.print(markdown([outcome]).splitlines()[-1], markup=False, soft_wrap=True)
            for problem in outcome.problems[:SHOWN_PROBLEMS]:
                console.print(f"  {problem}", markup=False, soft_wrap=True)
            progress.update(bar, description=_title(outcome.harm), advance=1)
    return outcomes


def _each_measured(rows: Sequence[Harm], folder: Path, *, restarts: bool) -> Iterator[Outcome]:
    """Measure row by row; a system that did not get well again is replaced by a new one."""
    left = deque(rows)
    for number in itertools.count():
        if not left:
            return
        with neighbourhood(folder / f"system-{number}") as system:
            while left:
                outcome = measure(system, left.popleft(), restarts=restarts)
                yield outcome
                if outcome.restart is None:
                    break


def _save(outcomes: Sequence[Outcome]) -> None:
    OUT.parent.mkdir(parents=True, exist_ok=True)
    found = [
        {
            "point": each.harm.point,
            "harm": each.harm.name,
            "verdict": each.verdict,
            "as_it_should_be": each.good,
            "gap": each.gap,
            "lost": each.tally.lost,
            "repeated": each.tally.repeated,
            "slowest_answer": each.slowest,
            "problems": each.problems,
            "restart": each.restart,
        }
        for each in outcomes
    ]
    OUT.write_text(json.dumps(found, indent=1) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make isolation-table", description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the rows, and do nothing")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TEXT",
        help="rows whose point or name contains it; may be given again",
    )
    parser.add_argument(
        "--no-restarts", action="store_true", help="do not restart everything after each row: half the time"
    )
    parser.add_argument("--folder", default="", help="keeps data and logs there; by default they are removed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
