"""`python -m copycat_executor.connectorhost`: loads the plugins, then makes copies of itself.

Lines in, lines out, until the executor closes our input; each copy has such a connection, too.
"""

from __future__ import annotations

import gc
import os
import socket
from typing import NoReturn

from copycat_connect.config.placeholders import Placeholders
from copycat_connect.config.worker_keys import LOG_LEVEL
from copycat_connect.plugin import load_plugins
from copycat_connect.plugin.registry import Plugins
from copycat_connect.plugin.spec import failed_entry_points
from copycat_telemetry.logs import configure_logging
from copycat_telemetry.output import call_process, take_output
from copycat_telemetry.printing import limit_printing

from copycat_executor.connectorhost.dispatch import Dispatcher
from copycat_executor.connectorhost.template import CopyMaker, Loading
from copycat_executor.pipes.child import LineWriter, obey_lines, read_first, take_pipes
from copycat_executor.pipes.connector_messages import (
    FIRST_LINE,
    TO_CONNECTORS,
    BeginConnectors,
    PluginsLoaded,
)
from copycat_executor.pipes.messages import Ready

SERVICE = "connectors"
#: What lists of processes show of a copy.
COPY_NAME = "copycat_executor.connectors"


def main() -> None:
    """Load the plugins, then make copies; end with the executor."""
    lines, answers = take_pipes()
    output = take_output(SERVICE)
    configure_logging(SERVICE, LOG_LEVEL.default, output.stderr)  # for a first line nobody can read
    begin = read_first(lines, FIRST_LINE)
    level = begin.worker.get(LOG_LEVEL.name, LOG_LEVEL.default)
    configure_logging(SERVICE, level, output.stderr)
    out = LineWriter(answers)
    loading = Loading(out)
    plugins = load_plugins(
        failed_before=begin.failed_plugins, later=begin.late_plugins, loading=loading.begins
    )
    loading.ends()
    placeholders = Placeholders.from_worker(begin.worker, dict(os.environ))
    output.give_back()  # each copy has a reader of its own
    configure_logging(SERVICE, level)

    def be_copy(connection: socket.socket) -> NoReturn:
        _be_copy(connection, begin, plugins, placeholders)

    template = CopyMaker(lines, answers, begin.connections, output.reader, be_copy)
    on_spark = [spec for spec in plugins.all() if spec.on_spark]
    names = tuple(name for spec in on_spark for name in (spec.class_name, *plugins.aliases(spec)))
    out.write(PluginsLoaded(failed_entry_points(plugins.unloadable), names))
    out.write(Ready())
    gc.collect()
    gc.freeze()  # keeps the shared pages shared: the collector writes into every object it visits
    os._exit(template.serve())


def _be_copy(
    connection: socket.socket, begin: BeginConnectors, plugins: Plugins, placeholders: Placeholders
) -> NoReturn:
    """Carry out calls; end with the executor, whatever hangs."""
    output = take_output(SERVICE)  # first: the reader, a fork, must not be listed as a copy for a moment
    call_process(COPY_NAME)
    configure_logging(SERVICE, begin.worker.get(LOG_LEVEL.name, LOG_LEVEL.default), output.stderr)
    limit_printing(output.stdout, output.stderr)
    if begin.late_plugins:
        plugins = load_plugins(failed_before=begin.failed_plugins)
    out = LineWriter(connection.makefile("wb"))
    dispatcher = Dispatcher(plugins, begin.worker, placeholders, out, output.about)
    out.write(Ready())
    code = obey_lines(connection.makefile("rb"), TO_CONNECTORS, dispatcher.obey)
    os._exit(code)  # author threads that hang must not keep the process


if __name__ == "__main__":
    main()
