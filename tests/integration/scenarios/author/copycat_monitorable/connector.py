"""What the monitorable connectors share."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from copycat_connect.errors import ConnectError, OffsetsUnmodifiableError
from copycat_connect.plugin.contexts import ConnectorContext

from copycat_monitorable.monitor import Monitor


def takes_part(said: str | None) -> bool:
    """Answer whether a connector takes part in a change of its offsets, or refuse it."""
    if said == "unsupported":
        message = "The system beyond moves on by itself"
        raise OffsetsUnmodifiableError(message)
    if said == "fails":
        message = "The system beyond is away"
        raise ConnectError(message)
    return said == "true"


class Monitored:
    """A connector under observation: its tasks get their index and the keys named in `handed_on`."""

    handed_on: tuple[str, ...] = ("name", "monitor")
    context: ConnectorContext

    def validate(self, config: Mapping[str, str | None]) -> None:
        """Find nothing wrong beyond what the definition says."""
        if config.get("monitor"):
            Monitor(config["monitor"] or "", "connector").obey("validate")

    def start(self, config: Mapping[str, str]) -> None:
        """Begin."""
        self.config = config
        self.monitor = Monitor(config["monitor"], "connector")
        self.monitor.happens("start")
        threading.Timer(0.1, self._watch).start()

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Make the tasks that were asked for, too many if so."""
        self.monitor.happens("task configs", max_tasks=max_tasks)
        shared = {key: self.config[key] for key in self.handed_on if key in self.config}
        count = int(self.config.get("task.count", max_tasks))
        return [{**shared, "index": str(index)} for index in range(count)]

    def stop(self) -> None:
        """End."""
        self.monitor.happens("stop")

    def _watch(self) -> None:
        """Fail outside of every call, if that was ordered."""
        try:
            self.monitor.obey("watch")
        except ConnectError as error:
            self.context.raise_error(error)
