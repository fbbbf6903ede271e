"""The messages of both conversations: calls and their answers, log levels, a process that is ready."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeAlias, TypeVar

import msgspec
from copycat_connect.errors import ErrorCode
from copycat_connect.failure_kind import FailureKind

T = TypeVar("T")


class PipeMessage(msgspec.Struct, frozen=True, tag_field="type", tag=True, forbid_unknown_fields=True):
    """A line of a pipe, or a part of one; on the line it bears the name of its class as `type`."""


class Call(PipeMessage, Generic[T], frozen=True):
    """Asks a child process for something; `T` is the type of the result in its `Answer`."""


class Ask(PipeMessage, Generic[T], frozen=True):
    """A call on its way to a child process; `T` is the union of the calls which that process knows."""

    number: int
    """The replies to the call bear the same one."""
    call: T


class Ping(Call[None], frozen=True):
    """Answered at once, unless something holds the child's interpreter or its Spark has not started yet."""


class SetLevel(PipeMessage, frozen=True):
    """Sets the level of every logger whose name starts with `logger`; it is not answered."""

    logger: str
    level: str
    """A name in `copycat_connect.log_levels.LEVELS`."""


class Failure(PipeMessage, frozen=True):
    """Why a call, or a connector outside of any call, failed; no text of it holds a resolved secret."""

    message: str
    trace: str
    """Class, message, frames and causes."""
    code: ErrorCode | None = None
    """Of an error of ours; None for any other."""
    fields: Mapping[str, str] = {}
    """Of an error of ours, by name."""
    kind: FailureKind = FailureKind.BUG
    """What it means."""


class Ready(PipeMessage, frozen=True):
    """The child process takes calls from now on."""


class Answer(PipeMessage, Generic[T], frozen=True):
    """The result of a call."""

    number: int
    result: T


class Refusal(PipeMessage, frozen=True):
    """A call failed."""

    number: int
    failure: Failure


class StageReached(PipeMessage, frozen=True):
    """What a call is busy with now: when it does not end in time, this says what hangs."""

    number: int
    stage: str
    """Continues the sentence "The worker is currently ..."."""
    began: str
    """When, in ISO 8601 and UTC."""


UnreadResult: TypeAlias = msgspec.Raw
"""A result as it stands on the line."""
Reply: TypeAlias = Answer[UnreadResult] | Refusal | StageReached
"""What comes of a call; the caller knows the type of its result and reads it (`lines.read_result`)."""
