"""`make audit`: what is known against the locked packages and jars.

Ends with 0 when nothing is known, 1 when there are findings that nobody has accepted, 2 without findings
but something could not be asked; it then says what, and why.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from rich.console import Console
from rich.table import Table

from tools.audit import jars, python_packages
from tools.audit.findings import Answer, Finding, NoDataError, judge, read_accepted

OSV: Final = "https://api.osv.dev"
NOTHING, FINDINGS, NO_DATA = range(3)

Check = Callable[[], Answer]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every check, print what it says, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.audit", description=__doc__)
    parser.add_argument("--osv", default=OSV, metavar="URL", help="another service with OSV's interface")
    parser.add_argument(
        "--without-data", action="store_true", help="end with 0 where something cannot be asked"
    )
    chosen = parser.parse_args(arguments)
    code = audit(
        {
            "locks: sources, sha256": lambda: python_packages.check_lock() + jars.check_lock(),
            "Python: withdrawn by the index": python_packages.check_index,
            "Python: vulnerabilities (OSV)": lambda: python_packages.check_vulnerabilities(chosen.osv),
            "jars: vulnerabilities (OSV)": lambda: jars.check_vulnerabilities(chosen.osv),
        },
        Console(highlight=False, soft_wrap=True),
    )
    return NOTHING if code == NO_DATA and chosen.without_data else code


def audit(checks: Mapping[str, Check], console: Console) -> int:
    """Run checks, print their table and the findings, and return the exit code."""
    table = Table("check", "packages", "result", title="Audit")
    found: list[Finding] = []
    unasked: list[str] = []
    for name, check in checks.items():
        try:
            answer = check()
        except NoDataError as error:
            unasked.append(f"NOT ASKED: {name}: {error}")
            table.add_row(name, "-", "not asked")
            continue
        found += answer.findings
        table.add_row(name, str(answer.asked), f"{len(answer.findings)} found")
    counting, accepted = judge(found, read_accepted(), datetime.now(UTC).date())
    console.print(table)
    lines = [
        *unasked,
        *(f"accepted: {finding}" for finding in accepted),
        *(f"FOUND: {finding}" for finding in counting),
    ]
    for each in lines:
        console.print(each, markup=False)
    return FINDINGS if counting else NO_DATA if unasked else NOTHING


if __name__ == "__main__":
    sys.exit(main())
