"""Connectors that hang for ever where no configuration has reached them yet."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from copycat_connect.config import ConfigDef
from copycat_connect.plugin import PluginKind, PluginSpec, SourceConnector, SourceTask
from copycat_connect.plugin.contexts import ConnectorContext


class Idle(SourceConnector):
    """Has no tasks."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep nothing."""

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return none."""
        return []

    def stop(self) -> None:
        """Hold nothing."""


class HangsInInitialize(Idle):
    """Never takes its context."""

    def initialize(self, context: ConnectorContext) -> None:
        """Hang."""
        hang()


def hang() -> None:
    """Wait for what never comes."""
    threading.Event().wait()


PLUGINS = (
    PluginSpec(
        "awkward.HangsWhenMadeConnector",
        PluginKind.SOURCE,
        "1.0",
        "Cannot even be asked for its configuration.",
        ConfigDef(),
        hang,
        "awkward.NoTask",
        SourceTask,
    ),
    PluginSpec(
        "awkward.HangsInInitializeConnector",
        PluginKind.SOURCE,
        "1.0",
        "Passes validation and never starts.",
        ConfigDef(),
        HangsInInitialize,
        "awkward.NoTask",
        SourceTask,
    ),
)
