"""Cluster-wide log levels, in Kafka Connect's words, on the loggers of this worker."""

from __future__ import annotations

import logging

from copycat.config.v1 import config_service_pb2
from copycat.host.v1 import host_service_pb2

from copycat_executor.adapters.connector_process import ConnectorProcess
from copycat_executor.adapters.hosts import Hosts

log = logging.getLogger(__name__)

NAMES = {
    "OFF": "CRITICAL",
    "FATAL": "CRITICAL",
    "ERROR": "ERROR",
    "WARN": "WARNING",
    "INFO": "INFO",
    "DEBUG": "DEBUG",
    "TRACE": "DEBUG",
    "ALL": "DEBUG",
}


def set_level(
    request: config_service_pb2.SetLoggerLevelRequest, process: ConnectorProcess, hosts: Hosts
) -> None:
    """Set a logger's level here, in the process of the connectors and in the hosts that run."""
    level = NAMES.get(request.level.upper())
    if level is None:
        log.warning("there is no log level %s", request.level)
        return
    logging.getLogger(request.logger).setLevel(level)
    process.tell("level", logger=request.logger, level=level)
    command = host_service_pb2.SetLevel(logger=request.logger, level=level)
    hosts.broadcast(host_service_pb2.AttachResponse(set_level=command))
