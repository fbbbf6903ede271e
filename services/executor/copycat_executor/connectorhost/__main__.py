"""`python -m copycat_executor.connectorhost`: lines in, lines out, until the parent closes our input."""

from __future__ import annotations

import os
import sys

from copycat_connect.config.worker_keys import LOG_LEVEL
from copycat_connect.plugin import load_plugins
from copycat_connect.plugin.unloadable import failed_entry_points
from copycat_telemetry.logs import configure_logging

from copycat_executor.connectorhost.dispatch import Dispatcher
from copycat_executor.connectorhost.lines import LineWriter, from_line, take_pipes


def main() -> None:
    """Take the worker's properties from the first line, then calls; end with the parent, whatever hangs.

    The first line also names the plugins that ended or held up a process like this one, which are not loaded.
    """
    lines, answers = take_pipes()
    hello = from_line(lines.readline())
    configure_logging("connectors", hello["worker"].get(LOG_LEVEL.name, LOG_LEVEL.default))
    out = LineWriter(answers)
    plugins = load_plugins(
        failed_before=hello["failed"],
        loading=lambda entry_point: out.write({"event": "loading", "entry_point": entry_point}),
    )
    dispatcher = Dispatcher(plugins, hello["worker"], dict(os.environ), out)
    out.write({"event": "ready", "failed": dict(failed_entry_points(plugins.unloadable))})
    for line in lines:
        dispatcher.dispatch(from_line(line))
    os._exit(0)  # author threads that hang must not keep the process


if __name__ == "__main__":
    main()
    sys.exit(0)
