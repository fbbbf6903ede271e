"""`make spark-rounds`: strike drivers of Spark and what they depend on, and count every record."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from random import Random

from copycat_embedded.jars import ensure_jars
from copycat_testkit.arrivals import Tally
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
    kinds, random = wanted.flows.split(","), Random(wanted.seed)  # noqa: S311 - drawn faults are no secrets
    outcomes = list[Outcome]()
    with tempfile.TemporaryDirectory(prefix="copycat-rounds-") as temporary:
        folder = Path(wanted.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        with running(folder, kinds) as flows:
            for outcome in rounds(flows, wanted.rounds, random):
                outcomes.append(outcome)
                report.save(outcomes, Path("build") / "spark_rounds.json")
                _say(len(outcomes), outcome, console)
            last, records = end(flows), sum(flow.fed for flow in flows.each)
    console.print(report.table(outcomes, last, kinds, records))
    return 0 if report.kept(outcomes, last, kinds) else 1


def _say(number: int, outcome: Outcome, console: Console) -> None:
    wrong = {name: tally for name, tally in outcome.tallies.items() if tally != Tally()}
    line = f"{number}: {outcome.case}: {outcome.seconds:.1f} s, {wrong or '0 lost, 0 repeated'}"
    console.print(line, outcome.stuck, *outcome.forgotten, markup=False, soft_wrap=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make spark-rounds", description=__doc__)
    parser.add_argument("--rounds", type=int, default=24, help="how many strikes they suffer (24)")
    parser.add_argument(
        "--flows", default=",".join(FLOWS), help=f"comma-separated, side by side: {', '.join(FLOWS)}"
    )
    parser.add_argument("--seed", type=int, default=1, help="draws the order and the moments (1)")
    parser.add_argument("--folder", default="", help="keeps data and logs there; by default they are removed")
    found = parser.parse_args()
    if unknown := set(found.flows.split(",")) - set(FLOWS):
        parser.error(f"--flows: unknown {', '.join(sorted(unknown))}; there are {', '.join(FLOWS)}")
    return found


if __name__ == "__main__":
    sys.exit(main())
