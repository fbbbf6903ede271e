"""Puts a task together: its plugin, its record path, its Kafka clients."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.config import framework_names as names
from copycat_connect.config.definition import missing_text
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.link import TaskLink
from copycat_executor.taskhost.assemble_sink import sink_runner
from copycat_executor.taskhost.assemble_source import source_runner
from copycat_executor.taskhost.order import TaskOrder
from copycat_executor.taskhost.plugins_in_use import plugins_in_use
from copycat_executor.taskhost.surroundings import Surroundings

_log = logging.getLogger(__name__)


class Runner(Protocol):
    """A task ready to run."""

    def cancel(self) -> None:
        """Let go of what a thread that hangs could still do harm with; called by another thread."""

    def run(self) -> None:
        """Run until told to end; blocks.

        Raises:
            TaskFailedError: The task failed.
            StaleTaskError: A newer generation of the task exists.
        """


@dataclass(frozen=True, slots=True)
class Assembled:
    """A task put together."""

    runner: Runner
    """Runs it."""
    version: str
    """Version of its plugin."""
    plugins: Sequence[pb.PluginInUse]
    """What it is made of."""


def find_connector(order: TaskOrder, surroundings: Surroundings) -> PluginSpec:
    """Find the plugin of a task's connector.

    Raises:
        ConfigError: It is not named or not installed.
    """
    name = order.connector_config.get(names.CONNECTOR_CLASS)
    if not name:
        raise ConfigError(missing_text(names.CONNECTOR_CLASS), key=names.CONNECTOR_CLASS)
    return surroundings.plugins.find_connector(name.strip())


def assemble(order: TaskOrder, surroundings: Surroundings, control: TaskControl, link: TaskLink) -> Assembled:
    """Make everything a task needs; connects to Kafka in the background.

    Raises:
        CopycatError: The configuration does not work.
    """
    spec = find_connector(order, surroundings)
    make = source_runner if spec.kind is PluginKind.SOURCE else sink_runner
    runner = make(order, spec, surroundings, control, link)
    return Assembled(runner, spec.version, plugins_in_use(order, spec, surroundings))
