"""`make isolation-table`: do each harm to a running system once, and print what its neighbours notice.

Every row is kept as soon as it is measured. `--continue` measures what is missing, `--only` some rows anew.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from copycat_embedded.jars import ensure_jars
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from tools.isolation_table.harms import HARMS
from tools.isolation_table.measure import (
    FAILURES,
    KEPT,
    Harm,
    Outcome,
    kept_outcomes,
    markdown,
    measure,
    not_done,
    save,
    write_page,
)
from tools.isolation_table.system import neighbourhood

WIDE: Final = 200
SHOWN_PROBLEMS: Final = 3
#: A system that does not start is tried so often for a row.
STARTS: Final = 2


def main() -> int:
    """Measure the rows asked for; returns 0 when no neighbour noticed any row of the table."""
    wanted = _arguments()
    asked = [text.lower() for text in wanted.only]
    rows = [each for each in HARMS if not asked or any(text in each.title.lower() for text in asked)]
    if wanted.list:
        print("\n".join(each.title for each in rows))
        return 0
    kept = kept_outcomes() if asked or wanted.proceed else {}
    if wanted.proceed:
        rows = [each for each in rows if each.title not in kept]
    console = Console(stderr=True) if sys.stderr.isatty() else Console(stderr=True, width=WIDE)
    ensure_jars(("broker",))
    with tempfile.TemporaryDirectory(prefix="copycat-isolation-") as folder:
        table = _Table(kept, write=wanted.write)
        table.measure(rows, Path(wanted.folder or folder), console, restarts=not wanted.no_restarts)
    print(markdown(table.shown))
    return 0 if all(each.contained for each in table.shown) else 1


class _Table:
    """What was measured, before and now."""

    def __init__(self, kept: dict[str, Outcome], *, write: bool) -> None:
        self._outcomes = kept
        self._write = write

    @property
    def shown(self) -> list[Outcome]:
        """All rows there are figures of, in the order of the table."""
        return [self._outcomes[each.title] for each in HARMS if each.title in self._outcomes]

    def measure(self, rows: Sequence[Harm], folder: Path, console: Console, *, restarts: bool) -> None:
        """Measure rows, and keep each; those that are kept already are written at once."""
        if self._write:
            write_page(self.shown)
        clocks = (TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn())
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), *clocks)
        with Progress(*columns, console=console, speed_estimate_period=3600) as progress:
            bar = progress.add_task("ten healthy connectors", total=len(rows))
            for outcome in _each_measured(rows, folder, console, restarts=restarts):
                self._outcomes[outcome.title] = outcome
                save(self._outcomes)
                if self._write:
                    write_page(self.shown)
                console.print(markdown([outcome]).splitlines()[-1], markup=False, soft_wrap=True)
                for problem in outcome.problems[:SHOWN_PROBLEMS]:
                    console.print(f"  {problem}", markup=False, soft_wrap=True)
                progress.update(bar, description=outcome.title, advance=1)


def _each_measured(
    rows: Sequence[Harm], folder: Path, console: Console, *, restarts: bool
) -> Iterator[Outcome]:
    """Measure row by row; a system that did not get well again is replaced by a new one."""
    left, failed = deque(rows), 0
    for number in itertools.count():
        if not left:
            return
        before = len(left)
        try:
            with neighbourhood(folder / f"system-{number}", small_disk=left[0].small_disk) as system:
                small = left[0].small_disk
                while left and left[0].small_disk == small:
                    harm = left.popleft()
                    outcome = measure(system, harm, restarts=restarts)
                    yield outcome
                    if outcome.restart is None or harm.loses:  # a lost topic is empty now
                        break
        except FAILURES as error:  # it did not start, or not stop
            console.print(f"a new system after: {error!r}"[:2000], markup=False, soft_wrap=True)
            failed = failed + 1 if len(left) == before else 0
            if failed == STARTS:
                failed = 0
                yield not_done(left.popleft(), error)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make isolation-table", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="print the rows, and do nothing")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TEXT",
        help="rows whose point or name contains it; may be given again; the others stay as they were kept",
    )
    parser.add_argument(
        "--continue",
        action="store_true",
        dest="proceed",
        help=f"measure the rows that are not in {KEPT} yet",
    )
    parser.add_argument(
        "--write", action="store_true", help="keep the table in services/launcher/ISOLATION.md"
    )
    parser.add_argument(
        "--no-restarts", action="store_true", help="do not restart everything after each row: half the time"
    )
    parser.add_argument("--folder", default="", help="keeps data and logs there; by default they are removed")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
