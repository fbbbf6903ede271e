"""`make spark-rounds`: strike drivers of Spark and what they depend on, and count every record."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from random import Random

from copycat_embedded.jars import ensure_jars
from rich.console import Console

from tools.crash_matrix import report
from tools.crash_matrix.rounds import Outcome
from tools.spark_rounds.flows import FLOWS
from tools.spark_rounds.rounds import end, rounds, running

WIDE = 180


def main() -> int:
    """Run the rounds asked for; returns 0 when every record of each connector counted once."""
    wanted = _arguments()
    console = Console() if sys.stdout.isatty() else Console(width=WIDE)
    ensure_jars(("broker",))
    kept = [_strike(kind, wanted, console) for kind in wanted.flows.split(",")]
    return 0 if all(kept) else 1


def _strike(kind: str, wanted: argparse.Namespace, console: Console) -> bool:
    random, outcomes = Random(wanted.seed), list[Outcome]()  # noqa: S311 - drawn faults are no secrets
    with tempfile.TemporaryDirectory(prefix="copycat-rounds-") as temporary:
        folder = Path(wanted.folder or temporary) / kind
        folder.mkdir(parents=True)
        with running(folder, kind) as flow:
            for outcome in rounds(flow, wanted.rounds, random):
                outcomes.append(outcome)
                report.save(outcomes, Path("build") / f"{kind}_rounds.json")
                line = f"{len(outcomes)}: {outcome.case}: {outcome.seconds:.1f} s, {outcome.tallies[kind]}"
                console.print(line, outcome.stuck, *outcome.forgotten, markup=False, soft_wrap=True)
            last, records = {kind: end(flow)}, flow.fed
    console.print(report.table(outcomes, last, [kind], records))
    return report.kept(outcomes, last, [kind])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make spark-rounds", description=__doc__)
    parser.add_argument("--rounds", type=int, default=21, help="how many strikes each connector suffers (21)")
    parser.add_argument(
        "--flows", default=",".join(FLOWS), help=f"comma-separated, one after the other: {', '.join(FLOWS)}"
    )
    parser.add_argument("--seed", type=int, default=1, help="draws the order and the moments (1)")
    parser.add_argument("--folder", default="", help="keeps data and logs there; by default they are removed")
    found = parser.parse_args()
    if unknown := set(found.flows.split(",")) - set(FLOWS):
        parser.error(f"--flows: unknown {', '.join(sorted(unknown))}; there are {', '.join(FLOWS)}")
    return found


if __name__ == "__main__":
    sys.exit(main())
