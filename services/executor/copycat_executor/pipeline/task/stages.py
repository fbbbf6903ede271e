"""Where in a record's way something happens, and the failures that name it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from copycat_connect.errors import ConnectError


class Stage(Enum):
    """The stages of Kafka Connect's error reports, and those only a task's status names."""

    START = "START"
    TASK_POLL = "TASK_POLL"
    TRANSFORMATION = "TRANSFORMATION"
    KEY_CONVERTER = "KEY_CONVERTER"
    VALUE_CONVERTER = "VALUE_CONVERTER"
    HEADER_CONVERTER = "HEADER_CONVERTER"
    KAFKA_PRODUCE = "KAFKA_PRODUCE"
    KAFKA_CONSUME = "KAFKA_CONSUME"
    TASK_PUT = "TASK_PUT"
    FLUSH = "FLUSH"
    STOP = "STOP"
    MEMORY = "MEMORY"

    @property
    def status_name(self) -> str:
        """How a task's status names it."""
        return self.value.removeprefix("TASK_").removeprefix("KAFKA_")


class TaskFailedError(Exception):
    """A task failed for good; its cause is the failure to show."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage.value)
        self.stage = stage


class StaleTaskError(Exception):
    """A newer generation of this task exists: end without another word (I2)."""


class DrainedError(Exception):
    """The task was stopped while it waited for room in a queue or for a retry."""


class ToleranceExceededError(ConnectError):
    """A record failed and `errors.tolerance` does not tolerate it; raised from the failure itself."""

    def __init__(self, stage: Stage) -> None:
        super().__init__("Tolerance exceeded in error handler", stage=stage.value)
        self.stage = stage


class RecordSkippedError(Exception):
    """A record failed, was reported, and is left out (`errors.tolerance` is all)."""


@contextmanager
def failing(stage: Stage) -> Iterator[None]:
    """Say at which stage whatever goes wrong in this block failed."""
    try:
        yield
    except (TaskFailedError, StaleTaskError, DrainedError):
        raise
    except ToleranceExceededError as error:
        raise TaskFailedError(error.stage) from error
    except BaseException as error:  # author code may raise anything, SystemExit too
        raise TaskFailedError(stage) from error
