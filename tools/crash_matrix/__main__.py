"""`make crash-matrix`: kill, freeze and change a running system many times over, and count every record."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from random import Random

from copycat_embedded.jars import ensure_jars
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tools.crash_matrix import report
from tools.crash_matrix.rounds import Outcome, end, matrix
from tools.crash_matrix.system import KINDS, SINKS, running

OUT = Path("build/crash_matrix.json")
_ALL = (*KINDS, *SINKS)
#: Columns of the table where no terminal says how many there are.
WIDE = 180


def main() -> int:
    """Run the rounds asked for; returns 0 when every guarantee was kept."""
    wanted = _arguments()
    console = Console() if sys.stdout.isatty() else Console(width=WIDE)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    random, outcomes = Random(wanted.seed), []  # noqa: S311 - drawn faults are no secrets
    ensure_jars(("broker",))
    with (
        tempfile.TemporaryDirectory(prefix="copycat-crashes-") as folder,
        Progress(*columns, console=console) as progress,
    ):
        bar = progress.add_task("rounds", total=wanted.rounds)
        with running(Path(wanted.folder or folder), wanted.guarantee.split(",")) as system:
            for outcome in matrix(system, wanted.rounds, random):
                outcomes.append(outcome)
                report.save(outcomes, OUT)
                _tell(outcome, len(outcomes), console)
                progress.advance(bar)
            last = end(system)
            kinds, records = system.kinds, system.reader.records
    console.print(report.table(outcomes, last, kinds, records))
    console.print(f"seed {wanted.seed}; every round is in {OUT}")
    return 0 if report.kept(outcomes, last, kinds) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make crash-matrix", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="how many faults strike (200)")
    parser.add_argument(
        "--guarantee",
        default="exactly_once,exactly_once_interval,at_least_once,file_sink,exactly_once_sink",
        help=f"comma-separated, a connector each that runs beside the others: {', '.join(_ALL)}",
    )
    parser.add_argument("--seed", type=int, default=1, help="draws the order and the moments (1)")
    parser.add_argument("--folder", default="", help="keeps data and logs there; by default they are removed")
    found = parser.parse_args()
    if unknown := set(found.guarantee.split(",")) - set(_ALL):
        parser.error(f"--guarantee: unknown {', '.join(sorted(unknown))}; there are {', '.join(_ALL)}")
    return found


def _tell(outcome: Outcome, number: int, console: Console) -> None:
    """Print a line about a round that broke something or took long to heal."""
    wrong = [kind for kind, tally in outcome.tallies.items() if report.broken(kind, tally)]
    if wrong or outcome.stuck or outcome.forgotten:
        console.print(
            f"round {number}: {outcome.case}: {', '.join(f'{k} {outcome.tallies[k]}' for k in wrong)}"
            f" {outcome.stuck} {', '.join(map(str, outcome.forgotten))}",
            markup=False,
            soft_wrap=True,
        )


if __name__ == "__main__":
    sys.exit(main())
