"""A source of numbered records."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from copycat_connect.data import STRING_SCHEMA, Header, SourceRecord
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import ExactlyOnceSupport, SourceConnector, SourceTask
from copycat_connect.plugin.contexts import SourceOffset, SourcePartition

from copycat_monitorable.boundaries import Boundaries
from copycat_monitorable.connector import Monitored, takes_part
from copycat_monitorable.monitor import Monitor

PAUSE_SECONDS = 0.05
log = logging.getLogger(__name__)


class MonitorableSource(Monitored, SourceConnector):
    """Makes sources of numbered records."""

    handed_on = ("name", "monitor", "topic", "max.messages", "messages.per.poll")

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport | None:
        """Answer what the configuration says."""
        said = _said(config.get("exactly.once"))
        return (
            None if said is None else ExactlyOnceSupport.SUPPORTED if said else ExactlyOnceSupport.UNSUPPORTED
        )

    def can_define_transaction_boundaries(self, config: Mapping[str, str]) -> bool | None:  # type: ignore[override]
        """Answer what the configuration says, even what may not be answered."""
        return _said(config.get("boundaries"))

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Answer what the configuration says."""
        del offsets
        return takes_part(config.get("alters.offsets"))


def _said(answer: str | None) -> bool | None:
    if answer == "fails":
        message = "this connector was told to fail when it is asked"
        raise ConnectError(message)
    return {"supported": True, "unsupported": False}.get(answer or "")


class MonitorableSourceTask(SourceTask):
    """Numbers records from 1 in a source partition of its own: {task.id: <connector>-<index>}."""

    def start(self, config: Mapping[str, str]) -> None:
        """Continue after the saved number."""
        index = config["index"]
        self._monitor = Monitor(config["monitor"], f"task {index}")
        self._monitor.happens("start")
        self._topic = config["topic"]
        self._id = f"{config['name']}-{index}"
        self._most = int(config.get("max.messages", "10"))
        self._at_once = int(config.get("messages.per.poll", "10"))
        saved = self.context.offset({"task.id": self._id})
        self._number = int(saved["saved"]) if saved else 0
        transaction = self.context.transaction
        self._boundaries = None if transaction is None else Boundaries(transaction)

    def poll(self) -> list[SourceRecord] | None:
        """Make the next records until there are enough."""
        self._monitor.obey("poll")
        log.debug("a task of monitorable polls")
        self.context.wait(PAUSE_SECONDS)
        last = min(self._most, self._number + self._at_once)
        records = [self._record(number) for number in range(self._number + 1, last + 1)]
        self._number = last
        for number, record in enumerate(records, last + 1 - len(records)):
            if self._boundaries is not None:
                self._boundaries.mark(number, record)
        return records or None

    def commit(self) -> None:
        """Note it."""
        self._monitor.note("commit", saved=self._number)

    def stop(self) -> None:
        """End."""
        self._monitor.happens("stop")

    def _record(self, number: int) -> SourceRecord:
        return SourceRecord(
            {"task.id": self._id},
            {"saved": number},
            self._topic,
            f"value-{self._id}-{number}",
            value_schema=STRING_SCHEMA,
            key=f"key-{self._id}-{number}",
            key_schema=STRING_SCHEMA,
            headers=(Header(f"header-{number % 2}", f"of {number}", STRING_SCHEMA),),
        )
