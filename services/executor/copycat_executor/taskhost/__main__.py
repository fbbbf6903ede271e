"""`python -m copycat_executor.taskhost SPEC_JSON` runs a host as a plain process (`-`: spec on stdin)."""

from __future__ import annotations

import os
import signal
import sys

from copycat_executor.taskhost.entry import run_host
from copycat_executor.taskhost.spec import HostSpec


def main() -> int:
    """Run the host whose spec is the only argument."""
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python -m copycat_executor.taskhost SPEC_JSON | -\n")
        return 2
    # Ctrl-C reaches every process of a terminal; the executor then drains its hosts.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w")  # author code prints elsewhere
    text = sys.stdin.read() if sys.argv[1] == "-" else sys.argv[1]
    answers.write(run_host(HostSpec.from_json(text)) + "\n")
    answers.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
