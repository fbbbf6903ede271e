"""Puts a task together: its plugin, its record path, its Kafka clients."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.config import framework_names as names
from copycat_connect.config.definition import missing_text
from copycat_connect.errors import ConfigError
from copycat_connect.failure_kind import FailureKind
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_executor.pipeline.task.call_log import CallLog
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.task_link import TaskLink
from copycat_executor.pipeline.task.task_run import TaskRun
from copycat_executor.taskhost.assemble_sink import sink_run
from copycat_executor.taskhost.assemble_source import source_run
from copycat_executor.taskhost.host_surroundings import HostSurroundings
from copycat_executor.taskhost.order import TaskOrder
from copycat_executor.taskhost.plugins_in_use import plugins_in_use

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Assembled:
    """A task ready to run, and what it is made of."""

    run: TaskRun
    """Its run, not yet begun."""
    version: str
    """Version of its plugin."""
    plugins: Sequence[pb.PluginInUse]
    """What it is made of."""
    failures: Mapping[type[BaseException], FailureKind]
    """What its plugin says of exceptions."""


def find_connector(order: TaskOrder, surroundings: HostSurroundings) -> PluginSpec:
    """Find the plugin of a task's connector.

    Raises:
        ConfigError: It is not named or not installed.
    """
    name = order.connector_config.get(names.CONNECTOR_CLASS)
    if not name:
        raise ConfigError(missing_text(names.CONNECTOR_CLASS), key=names.CONNECTOR_CLASS)
    return surroundings.plugins.find_connector(name.strip())


def assemble(
    order: TaskOrder, surroundings: HostSurroundings, control: TaskControl, link: TaskLink, *, calls: CallLog
) -> Assembled:
    """Make everything a task needs; connects to Kafka in the background.

    Raises:
        CopycatError: The configuration does not work.
    """
    spec = find_connector(order, surroundings)
    make = source_run if spec.kind is PluginKind.SOURCE else sink_run
    run = make(order, spec, surroundings, control, link, calls=calls)
    return Assembled(run, spec.version, plugins_in_use(order, spec, surroundings), spec.failures)
