"""The process of the connectors, seen from outside: calls into it, and the plugins that it could not load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol, assert_never

from copycat_executor.children import plugin_watch
from copycat_executor.children.child_process import ChildProcess, Program
from copycat_executor.children.plugin_watch import PluginWatch
from copycat_executor.pipes.connector_messages import (
    FROM_CONNECTORS,
    BeginConnectors,
    ConnectorCall,
    ConnectorEvent,
    ConnectorFailed,
    ConnectorOrder,
    ConnectorWaits,
    PluginLoading,
    PluginsLoaded,
    ProcessEvent,
    QueryAsked,
    ReconfigurationWanted,
    SecretsExpired,
)
from copycat_executor.pipes.messages import T

MODULE: Final = "copycat_executor.connectorhost"


class ProcessListener(Protocol):
    """Who hears what a process says without having been called."""

    def heard(self, event: ConnectorEvent) -> None:
        """Something happened to an object in the process, or one asks for something."""

    def process_ended(self) -> None:
        """The process ended, and all objects in it; another is started."""


class _Nobody:
    """Listens until somebody else does: a process that was not called yet says nothing of importance."""

    def heard(self, event: ConnectorEvent) -> None:
        pass

    def process_ended(self) -> None:
        pass


class _Owner:
    """What is special about this child process: it loads plugins, any of which may end it or hold it up."""

    def __init__(self, worker: Mapping[str, str]) -> None:
        self.loading = PluginWatch()
        self.listener: ProcessListener = _Nobody()
        self._worker = dict(worker)

    def first_message(self) -> BeginConnectors:
        return BeginConnectors(self._worker, self.loading.failed)

    def heard(self, event: ProcessEvent) -> None:
        match event:
            case PluginLoading(entry_point=entry_point):
                self.loading.begins(entry_point)
            case PluginsLoaded(failed=failed):
                self.loading.finished(failed)
            case (
                ReconfigurationWanted()
                | ConnectorFailed()
                | ConnectorWaits()
                | SecretsExpired()
                | QueryAsked()
            ):
                self.listener.heard(event)
            case _:
                assert_never(event)

    def silence_limit_seconds(self) -> float | None:
        return plugin_watch.LOAD_TIMEOUT_SECONDS if self.loading.under_way else None

    def fell_silent(self) -> None:
        self.loading.hangs()

    def ended(self, ending: str) -> None:
        self.loading.process_ended(ending)
        self.listener.process_ended()


class ConnectorProcess:
    """The process that runs author code of connectors, and the one that takes its place when it ends."""

    def __init__(self, worker: Mapping[str, str], *, module: str = MODULE) -> None:
        """Take the worker's properties, which the process gets; `module` is what it runs."""
        self._owner = _Owner(worker)
        program: Program[ProcessEvent] = Program(module, "connectors", FROM_CONNECTORS)
        self._child = ChildProcess(program, self._owner)

    def listen(self, listener: ProcessListener) -> None:
        """Have what the process says heard by `listener`; call it once, before the first call into it."""
        self._owner.listener = listener

    def failed_plugins(self) -> Mapping[str, str]:
        """Return the plugins not to load, by entry point, and why; complete once `loaded` has returned."""
        return self._owner.loading.failed

    async def loaded(self) -> None:
        """Wait until a process has loaded the plugins and takes calls."""
        await self._child.ready()

    async def run(self) -> None:
        """Keep a process running until cancelled."""
        await self._child.run()

    async def call(self, call: ConnectorCall[T], stage: str, deadline_seconds: float) -> T:
        """Call and wait; `stage` names what hangs when the deadline passes.

        Raises:
            PluginError: Author code raised.
            PluginHangsError: It did not come back in time; it still runs.
            PluginProcessGoneError: The process died meanwhile.
        """
        return await self._child.call(call, stage, deadline_seconds)

    def send(self, order: ConnectorOrder) -> None:
        """Send what is not answered; lost while there is no process."""
        self._child.send(order)

    def set_level(self, logger: str, level: str) -> None:
        """Set a log level in the process and in each that takes its place."""
        self._child.set_level(logger, level)

    def kill(self) -> None:
        """End the process, whatever it does; another takes its place."""
        self._child.kill()
