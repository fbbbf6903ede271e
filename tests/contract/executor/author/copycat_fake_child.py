"""A process of the connectors that first writes what a test left for it; the next one is a good one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from copycat_executor.pipes.child import LineWriter
from copycat_executor.pipes.messages import Ready


def main() -> None:
    """Write the bytes once and take them away; then wait for the end of our input."""
    lines = sys.stdin.buffer
    lines.readline()
    bad = Path(os.environ["COPYCAT_BAD_LINE"])
    if bad.exists():
        content = bad.read_bytes()
        bad.unlink()  # first: whoever reads it ends this process
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        if "COPYCAT_THEN_END" in os.environ:
            return
    else:
        LineWriter(sys.stdout.buffer).write(Ready())
    lines.read()


if __name__ == "__main__":
    main()
