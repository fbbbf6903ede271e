"""Fetch and verify jars ahead: `python -m copycat_embedded [broker] [connect] ...`, sets by name."""

from __future__ import annotations

import sys
from typing import cast, get_args

from copycat_embedded.errors import JarError
from copycat_embedded.jars import ensure_jars
from copycat_embedded.lock import JarSet

SETS: tuple[JarSet, ...] = get_args(JarSet)


def main() -> int:
    """Make sure of the named sets, the broker's when none is named."""
    names = sys.argv[1:] or ["broker"]
    if not set(names) <= set(SETS):
        sys.stderr.write(f"usage: python -m copycat_embedded [{'] ['.join(SETS)}]\n")
        return 2
    try:
        jars = ensure_jars(cast("list[JarSet]", names))
    except JarError as error:
        sys.stderr.write(f"copycat_embedded: {error.message}\n")
        return 1
    sys.stdout.write(f"{len(jars)} jars verified in {jars[0].parent}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
