"""Opens the log the settings ask for."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from copycat_eventlog.file_log import FileLog
from copycat_eventlog.kafka import KafkaLog
from copycat_eventlog.log import Log
from copycat_eventlog.memory import MemoryLog, MemoryTopic
from copycat_eventlog.settings import Backend, LogSettings


def open_log(settings: LogSettings) -> Log:
    """Return the log; it does nothing before its `start`."""
    match settings.backend:
        case Backend.MEMORY:
            partitions = max(1, settings.partitions)
            if settings.file is None:
                return MemoryLog(MemoryTopic(partitions))
            return FileLog(Path(settings.file), settings.setting, partitions)
        case Backend.KAFKA:
            return KafkaLog(settings)
        case _:
            assert_never(settings.backend)
