"""`make load-simulation`: what ten thousand connectors cost the services, without the tasks themselves."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from copycat_embedded.jars import ensure_jars
from copycat_rpc.services import connected
from copycat_testkit.outcomes import write_between
from rich.console import Console

from tools.load.page import PAGE, figures_table
from tools.load.simulation.measuring import Figures, Measuring
from tools.load.simulation.plane import Plane, plane

SIZES: Final = "500,2000,5000,10000"
OUT: Final = Path("build/load_simulation.json")


def main() -> int:
    """Grow a cluster through the sizes asked for; returns 0 when each of them came to rest."""
    parser = argparse.ArgumentParser(prog="make load-simulation", description=__doc__)
    parser.add_argument("--sizes", default=SIZES, help=f"connectors, comma-separated ({SIZES})")
    parser.add_argument(
        "--patience", type=float, default=600.0, help="seconds a size may take to settle (600)"
    )
    parser.add_argument(
        "--stored",
        action="store_true",
        help="the connectors of the first size are in the config topic before the services start",
    )
    parser.add_argument("--folder", default="", help="keeps data and logs there; by default they are removed")
    parser.add_argument("--write", action="store_true", help="keep the table in tools/load/LOAD.md")
    parser.add_argument("--out", default=str(OUT), help=f"file for the figures ({OUT})")
    wanted = parser.parse_args()
    ensure_jars(("broker",))
    sizes = [int(size) for size in wanted.sizes.split(",")]
    with tempfile.TemporaryDirectory(prefix="copycat-simulation-") as name:
        folder = Path(wanted.folder or name)
        folder.mkdir(parents=True, exist_ok=True)
        with plane(folder, sizes[0] if wanted.stored else 0) as running:
            found = asyncio.run(_grown(running, sizes, wanted))
    text = figures_table([each.values for each in found], [each.connectors for each in found])
    text += f"\n\nLoad of the machine at the end: {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores."
    print(text)
    if wanted.write:
        write_between(PAGE, "simulation", text)
    return 1 if any(each.failures for each in found) else 0


async def _grown(running: Plane, sizes: list[int], wanted: argparse.Namespace) -> list[Figures]:
    console, found = Console(stderr=True, width=180), list[Figures]()
    async with connected(running.addresses, secret=running.cluster.secret) as services:
        measuring = Measuring(
            running, services, wanted.patience, lambda line: console.print(line, markup=False)
        )
        for size in sizes:
            if wanted.stored and not found:
                found.append(await measuring.found(size, running.began))
            else:
                found.append(await measuring.grow(size))
            if size == sizes[-1] and not found[-1].failures:
                await measuring.replay(found[-1])
            _save(found, Path(wanted.out))
            said = {"connectors": size, **found[-1].values, "failures": found[-1].failures}
            console.print_json(data=said)
            if found[-1].failures:
                break
    return found


def _save(found: list[Figures], out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    figures = [
        {"connectors": each.connectors, "failures": each.failures, "values": each.values} for each in found
    ]
    out.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
