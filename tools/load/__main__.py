"""`make load`: a cluster of three executors grows step by step, then connectors come and go."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from copycat_embedded.jars import ensure_jars
from copycat_testkit.outcomes import write_between
from copycat_testkit.system import CopycatUp
from rich.console import Console

from tools.load.crowd import Crowd
from tools.load.growth import EXECUTORS, Step, churn, grow
from tools.load.page import CURVES, PAGE, curves, memory_table, steps_table

SIZES: Final = "50,100,200,350,500"
CHURN_MINUTES: Final = 3.0
CHURN_ROUNDS: Final = 6
WIDE: Final = 180


def main() -> int:
    """Measure; prints the tables, and keeps them where that is asked for."""
    wanted = _arguments()
    ensure_jars(("broker",))
    sizes = [int(size) for size in wanted.sizes.split(",")]
    console = Console(stderr=True, width=WIDE)
    with tempfile.TemporaryDirectory(prefix="copycat-load-") as name:
        options = ["--executors", str(EXECUTORS), "--set", "services.in.one.process=false"]  # a row of each
        up = CopycatUp(Path(wanted.folder or name) / "data", options=options)
        with up as system:
            crowd, steps = Crowd(system.url, wanted.patience), list[Step]()
            for size in sizes:
                steps.append(grow(system, crowd, size, lambda line: console.print(line, markup=False)))
                _publish("steps", steps_table(steps), wanted.write)
                if wanted.write:
                    CURVES.write_text(curves(steps))
            minutes = wanted.soak or CHURN_MINUTES
            rounds = max(CHURN_ROUNDS, round(minutes))
            found = churn(system, crowd, minutes, rounds, lambda line: console.print(line, markup=False))
            _publish("churn", memory_table(found), wanted.write)
    return 0


def _publish(name: str, text: str, write: bool) -> None:
    conditions = f"Load of the machine at the end: {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores."
    print(f"{text}\n\n{conditions}\n")
    if write:
        write_between(PAGE, name, f"{text}\n\n{conditions}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make load", description=__doc__)
    parser.add_argument("--sizes", default=SIZES, help=f"connectors at each step, comma-separated ({SIZES})")
    parser.add_argument(
        "--soak",
        type=float,
        default=0.0,
        metavar="MINUTES",
        help=f"how long connectors come and go; {CHURN_MINUTES:.0f} minutes when left out",
    )
    parser.add_argument("--patience", type=float, default=600.0, help="seconds anything may take (600)")
    parser.add_argument("--write", action="store_true", help="keep tables and curves in tools/load/LOAD.md")
    parser.add_argument("--folder", default="", help="keeps data and logs there; by default they are removed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
