"""`python -m copycat_executor.connectorhost`: lines in, lines out, until the executor closes our input."""

from __future__ import annotations

import os

from copycat_connect.config.worker_keys import LOG_LEVEL
from copycat_connect.plugin import load_plugins
from copycat_connect.plugin.unloadable import failed_entry_points
from copycat_telemetry.logs import configure_logging
from copycat_telemetry.output import take_output
from copycat_telemetry.printing import limit_printing

from copycat_executor.connectorhost.dispatch import Dispatcher
from copycat_executor.pipes.child import LineWriter, obey_lines, read_first, take_pipes
from copycat_executor.pipes.connector_messages import FIRST_LINE, TO_CONNECTORS, PluginLoading, PluginsLoaded
from copycat_executor.pipes.messages import Ready


def main() -> None:
    """Load the plugins, then carry out calls; end with the executor, whatever hangs."""
    lines, answers = take_pipes()
    output = take_output("connectors")
    configure_logging("connectors", LOG_LEVEL.default, output.stderr)  # for a first line nobody can read
    begin = read_first(lines, FIRST_LINE)
    configure_logging("connectors", begin.worker.get(LOG_LEVEL.name, LOG_LEVEL.default), output.stderr)
    limit_printing(output.stdout, output.stderr)
    out = LineWriter(answers)
    plugins = load_plugins(
        failed_before=begin.failed_plugins,
        loading=lambda entry_point: out.write(PluginLoading(entry_point)),
    )
    dispatcher = Dispatcher(plugins, begin.worker, dict(os.environ), out, output.about)
    out.write(PluginsLoaded(failed_entry_points(plugins.unloadable)))
    out.write(Ready())
    code = obey_lines(lines, TO_CONNECTORS, dispatcher.obey)
    os._exit(code)  # author threads that hang must not keep the process


if __name__ == "__main__":
    main()
