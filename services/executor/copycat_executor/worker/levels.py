"""Log levels set for the cluster, on the loggers of this worker: here, and in the processes it runs."""

from __future__ import annotations

import logging

from copycat.config.v1 import config_service_pb2
from copycat.host.v1 import host_service_pb2
from copycat_connect.log_levels import level_named
from copycat_telemetry.loggers import set_level

from copycat_executor.children.connector_processes import ConnectorProcesses
from copycat_executor.children.query_engine import Queries
from copycat_executor.hosts.host_pool import HostPool

log = logging.getLogger(__name__)


class LogLevels:
    """Sets levels here, in all child processes and in all hosts, also in later ones."""

    def __init__(self, processes: ConnectorProcesses, queries: Queries, hosts: HostPool) -> None:
        self._processes = processes
        self._queries = queries
        self._hosts = hosts

    def set(self, request: config_service_pb2.SetLoggerLevelRequest) -> None:
        """Set a logger's level everywhere; a level that does not exist is logged and changes nothing."""
        level = level_named(request.level)
        if level is None:
            log.warning("there is no log level %s", request.level)
            return
        set_level(request.logger, level)
        self._processes.set_level(request.logger, level)
        self._queries.set_level(request.logger, level)
        command = host_service_pb2.SetLevel(logger=request.logger, level=level)
        self._hosts.broadcast(request.logger, host_service_pb2.AttachResponse(set_level=command))
