"""`python -m copycat_executor.connectorhost`: lines in, lines out, until the parent closes our input."""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

from copycat_connect.plugin import load_plugins
from copycat_telemetry.logs import configure_logging

from copycat_executor.connectorhost.dispatch import Dispatcher
from copycat_executor.connectorhost.lines import LineWriter, from_line


def main() -> None:
    """Take the worker's properties from the first line, then calls; end with the parent, whatever hangs."""
    lines, answers = _take_pipes()
    hello = from_line(lines.readline())
    configure_logging("connectors", hello["worker"].get("log.level", "WARNING"))
    out = LineWriter(answers)
    dispatcher = Dispatcher(load_plugins(), hello["worker"], dict(os.environ), out)
    out.write({"event": "ready"})
    for line in lines:
        dispatcher.dispatch(from_line(line))
    os._exit(0)  # author threads that hang must not keep the process


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Take the pipes away from author code: what it prints goes to stderr, what it reads is empty."""
    lines, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return lines, answers


if __name__ == "__main__":
    main()
    sys.exit(0)
